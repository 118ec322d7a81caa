/** The memory as a whole: opened from the masthead, closed with Escape, warned about when lost. */

import { part, show } from '../dom.js';
import { detailView } from './memory_detail.js';
import { filesView } from './memory_files.js';
import { listView } from './memory_list.js';
import { proposalView } from './memory_proposal.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../memory_protocol.js').StorageFacts} StorageFacts */
/** @typedef {import('../memory_protocol.js').Keep} Keep */

/**
 * @param {HTMLDialogElement} root
 * @param {HTMLButtonElement} opener
 * @param {Store} store
 * @param {import('../memory_book.js').MemoryBook} book
 */
export function memoryView(root, opener, store, book) {
  opener.addEventListener('click', () => book.open());
  root.addEventListener('close', () => book.close());
  part(root, 'close', HTMLButtonElement).addEventListener('click', () => root.close());
  bindWriting(part(root, 'writing', HTMLFormElement), book);
  listView(root, store, book);
  proposalView(part(root, 'proposal', HTMLElement), store, book);
  detailView(part(root, 'detail', HTMLElement), store, book);
  filesView(part(root, 'files', HTMLElement), store, book);
  store.watch(['memory'], ({ memory }) => {
    if (memory.is_open && !root.open) root.showModal();
    if (!memory.is_open && root.open) root.close();
    const problem = part(root, 'problem', HTMLElement);
    problem.hidden = memory.problem === null;
    problem.textContent = memory.problem?.text ?? '';
    const room = part(root, 'room', HTMLElement);
    room.textContent = memory.page ? describeRoom(memory.page.storage) : '';
  });
}

/**
 * Instead of a silent loss: a warning that covers the page.
 * @param {HTMLDialogElement} root
 * @param {Store} store
 */
export function lostView(root, store) {
  part(root, 'go-on', HTMLButtonElement).addEventListener('click', () => root.close());
  store.watch(['memory'], ({ memory }) => {
    if (memory.problem?.code !== 'storage_lost' || root.open) return;
    part(root, 'text', HTMLElement).textContent = memory.problem.text;
    root.showModal();
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {import('../memory_book.js').MemoryBook} book
 */
function bindWriting(form, book) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = part(form, 'text', HTMLTextAreaElement);
    if (text.value.trim()) book.proposeToRemember(text.value, [], readKeep(form));
    text.value = '';
  });
  const rule = part(form, 'rule', HTMLSelectElement);
  const until = part(form, 'until', HTMLInputElement);
  rule.addEventListener('change', () => {
    until.disabled = rule.value !== 'until';
    until.required = !until.disabled;
  });
}

/**
 * @param {HTMLFormElement} form
 * @returns {Keep}
 */
function readKeep(form) {
  const rule = /** @type {Keep['rule']} */ (part(form, 'rule', HTMLSelectElement).value);
  const until = part(form, 'until', HTMLInputElement);
  return { rule, until: rule === 'until' ? `${until.value}T00:00:00+00:00` : '' };
}

/** @param {StorageFacts} storage */
function describeRoom({ used_bytes, quota_bytes, is_persistent }) {
  const quota = quota_bytes === null ? '' : ` of ${show(quota_bytes, 'bytes')}`;
  const risk = is_persistent
    ? 'kept until you delete it'
    : 'the browser may remove it when the disk is full';
  return `${show(used_bytes, 'bytes')}${quota} used by this site; ${risk}.`;
}
