/** The memory as files: export, import, start-up files, and the end of everything. */

import { fromTemplate, part, setTexts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../memory_protocol.js').ImportReport} ImportReport */
/** @typedef {import('../memory_protocol.js').StartupFile} StartupFile */
/** @typedef {import('../memory_book.js').MemoryBook} MemoryBook */

const EXPORT_NAME = 'tinyloom-memory.jsonl';

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {MemoryBook} book
 */
export function filesView(root, store, book) {
  bindExchange(root, book);
  bindErasing(root, book);
  /** @type {unknown} */
  let drawn = null;
  store.watch(['memory'], ({ memory: { imported, startup } }) => {
    part(root, 'imported', HTMLElement).textContent = imported ? describeImport(imported) : '';
    if (!startup || startup === drawn) return;
    drawn = startup;
    const files = startup.files.map((file) => drawFile(file, book));
    part(root, 'startup', HTMLElement).replaceChildren(...files);
  });
}

/**
 * @param {HTMLElement} root
 * @param {MemoryBook} book
 */
function bindExchange(root, book) {
  part(root, 'export', HTMLButtonElement).addEventListener('click', async () => {
    const lines = await book.exportLines();
    if (lines !== null) save(lines);
  });
  const file = part(root, 'import', HTMLInputElement);
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    if (chosen) book.importFile(chosen);
    file.value = '';
  });
}

/** @param {string} lines */
function save(lines) {
  const address = URL.createObjectURL(new Blob([lines], { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = EXPORT_NAME;
  link.click();
  URL.revokeObjectURL(address);
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
    book.readStartup({ path: file.path, text: text.value }),
  );
  return element;
}
