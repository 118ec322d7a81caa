/** The memory as a whole: opened from the masthead, closed with Escape, warned about when lost. */

import { part, show } from '../dom.js';
import { detailView } from './memory_detail.js';
import { filesView } from './memory_files.js';
import { bindKeepRule, readKeep } from './memory_keep.js';
import { listView } from './memory_list.js';
import { proposalView } from './memory_proposal.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../memory_protocol.js').StorageFacts} StorageFacts */

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
  bindSummary(root, store, book);
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
 * @param {import('../memory_book.js').MemoryBook} book
 * @param {import('../memory_guard.js').MemoryGuard} guard
 */
export function lostView(root, store, book, guard) {
  part(root, 'go-on', HTMLButtonElement).addEventListener('click', () => {
    root.close();
    guard.accept();
  });
  root.addEventListener('cancel', () => guard.accept());
  const file = part(root, 'import', HTMLInputElement);
  file.addEventListener('change', async () => {
    const chosen = file.files?.[0];
    if (!chosen) return;
    await guard.accept();
    await book.importFile(chosen);
    file.value = '';
    root.close();
    book.open();
  });
  store.watch(['memory'], ({ memory }) => {
    if (memory.problem?.code !== 'storage_lost' || root.open) return;
    part(root, 'text', HTMLElement).textContent = memory.problem.text;
    root.showModal();
  });
}

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {import('../memory_book.js').MemoryBook} book
 */
function bindSummary(root, store, book) {
  const byRule = part(root, 'summarise', HTMLButtonElement);
  const byModel = part(root, 'summarise-model', HTMLButtonElement);
  const stop = part(root, 'summarise-stop', HTMLButtonElement);
  byRule.addEventListener('click', () => book.summarise('rule'));
  byModel.addEventListener('click', () => book.summarise('model'));
  stop.addEventListener('click', () => book.stopSummary());
  store.watch(['memory', 'messages', 'model', 'turn'], ({ memory, messages, model, turn }) => {
    const is_writing = memory.summarising !== null;
    const has_turns = messages.some(({ role }) => role === 'assistant');
    byRule.disabled = is_writing || !has_turns;
    byModel.disabled = is_writing || !has_turns || !model.facts || turn.kind === 'running';
    stop.hidden = !is_writing;
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
  bindKeepRule(form);
}

/** @param {StorageFacts} storage */
function describeRoom({ used_bytes, quota_bytes, is_persistent }) {
  const quota = quota_bytes === null ? '' : ` of ${show(quota_bytes, 'bytes')}`;
  const risk = is_persistent
    ? 'kept until you delete it'
    : 'the browser may remove it when the disk is full';
  return `${show(used_bytes, 'bytes')}${quota} used by this site; ${risk}.`;
}
