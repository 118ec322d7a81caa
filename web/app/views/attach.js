/** Where foreign text is attached to the next message, and what is attached already. */

import { fromTemplate, part, setTexts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */

/**
 * @typedef {object} AttachClient
 * @property {(name: string, text: string) => string} add
 * @property {(id: number) => void} remove
 */

const LARGEST_FILE_BYTES = 2_000_000;

/**
 * @param {HTMLDialogElement} root
 * @param {HTMLElement} composer
 * @param {Store} store
 * @param {AttachClient} client
 */
export function attachView(root, composer, store, client) {
  const form = part(root, 'form', HTMLFormElement);
  const name = part(root, 'name', HTMLInputElement);
  const text = part(root, 'text', HTMLTextAreaElement);
  const refusal = part(root, 'refusal', HTMLElement);

  part(composer, 'attach', HTMLButtonElement).addEventListener('click', () => {
    form.reset();
    refusal.textContent = '';
    root.showModal();
    text.focus();
  });
  part(root, 'cancel', HTMLButtonElement).addEventListener('click', () => root.close());
  part(root, 'file', HTMLInputElement).addEventListener('change', async ({ target }) => {
    const file = target instanceof HTMLInputElement ? target.files?.[0] : undefined;
    if (!file) return;
    const is_small = file.size <= LARGEST_FILE_BYTES;
    refusal.textContent = is_small ? '' : `The file is larger than ${LARGEST_FILE_BYTES} bytes.`;
    if (!is_small) return;
    text.value = await file.text();
    name.value = file.name;
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    refusal.textContent = client.add(name.value, text.value);
    if (refusal.textContent === '') root.close();
  });

  const list = part(composer, 'attachments', HTMLElement);
  store.watch(['attachments'], ({ attachments }) => {
    list.hidden = attachments.length === 0;
    list.replaceChildren(...attachments.map((attached) => draw(attached, client)));
  });
}

/**
 * @param {import('../store.js').Attached} attached
 * @param {AttachClient} client
 */
function draw({ id, name, text }, client) {
  const item = fromTemplate('attachment-template');
  setTexts(item, { name: `${name}, ${text.length.toLocaleString('en')} characters` });
  const remove = part(item, 'remove', HTMLButtonElement);
  remove.setAttribute('aria-label', `Remove ${name}`);
  remove.addEventListener('click', () => client.remove(id));
  return item;
}
