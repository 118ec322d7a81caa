/** The memory as files: export, import, start-up files, and the end of everything. */

import { fromTemplate, part, setTexts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../memory_protocol.js').ImportReport} ImportReport */
/** @typedef {import('../memory_protocol.js').StartupFile} StartupFile */
/** @typedef {import('../memory_book.js').MemoryBook} MemoryBook */

const HASH_CHARS = 12;

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {MemoryBook} book
 */
export function filesView(root, store, book) {
  bindExchange(root, book);
  bindErasing(root, book);
  root.addEventListener('toggle', () => book.readStartup());
  const opened = part(root, 'startup-files', HTMLInputElement);
  opened.addEventListener('change', async () => {
    await book.importStartup([...(opened.files ?? [])]);
    opened.value = '';
  });
  /** @type {unknown} */
  let drawn = null;
  store.watch(['memory'], ({ memory: { imported, startup } }) => {
    part(root, 'imported', HTMLElement).textContent = imported ? describeImport(imported) : '';
    if (!startup || startup === drawn) return;
    drawn = startup;
    const files = startup.files.map((file) => drawFile(file, book));
    part(root, 'startup', HTMLElement).replaceChildren(...files);
    part(root, 'boot', HTMLElement).textContent = describeBoot(startup);
  });
}

/**
 * @param {HTMLElement} root
 * @param {MemoryBook} book
 */
function bindExchange(root, book) {
  part(root, 'export', HTMLButtonElement).addEventListener('click', () => book.exportFile());
  const file = part(root, 'import', HTMLInputElement);
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    if (chosen) book.importFile(chosen);
    file.value = '';
  });
}

/**
 * A second button has to be pressed, which is there only after the first.
 * @param {HTMLElement} root
 * @param {MemoryBook} book
 */
function bindErasing(root, book) {
  const sure = part(root, 'erase-sure', HTMLElement);
  part(root, 'erase', HTMLButtonElement).addEventListener('click', () => {
    sure.hidden = false;
    part(sure, 'erase-no', HTMLButtonElement).focus();
  });
  part(sure, 'erase-no', HTMLButtonElement).addEventListener('click', () => {
    sure.hidden = true;
  });
  part(sure, 'erase-yes', HTMLButtonElement).addEventListener('click', () => {
    sure.hidden = true;
    book.eraseEverything();
  });
}

/** @param {import('../memory_protocol.js').StartupState} startup */
function describeBoot({ boot, boot_hash, is_complete }) {
  const parts = boot.map(({ part, items }) => `${part} ${items.length}`).join(', ');
  const use = is_complete ? 'A session begins with' : 'Some files are missing; there is';
  return `${use}, in this order: ${parts}. Package ${boot_hash.slice(0, HASH_CHARS)}.`;
}

/** @param {ImportReport} report */
function describeImport(report) {
  return [
    `${report.added} taken over`,
    `${report.known} already here`,
    `${report.deleted_here} stay deleted`,
    `${report.with_secrets} left out for a secret`,
    `${report.foreign} of another workspace left out`,
    `${report.deletes.length} deleted by the file`,
  ].join(', ');
}

/**
 * @param {StartupFile} file
 * @param {MemoryBook} book
 */
function drawFile(file, book) {
  const element = fromTemplate('startup-file-template');
  element.dataset.state = file.state;
  const state = file.state === 'broken' ? file.problem : file.state;
  setTexts(element, { path: file.path, state });
  const text = part(element, 'text', HTMLTextAreaElement);
  text.value = file.text;
  text.setAttribute('aria-label', file.path);
  part(element, 'save', HTMLButtonElement).addEventListener('click', () =>
    book.writeStartup({ path: file.path, text: text.value }),
  );
  const download = part(element, 'download', HTMLButtonElement);
  download.hidden = file.state !== 'ok';
  download.addEventListener('click', () => book.downloadStartup(file));
  return element;
}
