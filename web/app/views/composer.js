/** Where a message is written, sent and stopped. */

import { part, show } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../store.js').PageState} PageState */

/**
 * @typedef {object} ChatClient
 * @property {(text: string) => boolean} send
 * @property {() => Promise<void>} stop
 * @property {() => void} cancelEdit
 * @property {() => Promise<void>} resetContext
 * @property {() => void} clearTranscript
 */

/**
 * @param {HTMLFormElement} root
 * @param {Store} store
 * @param {ChatClient} client
 */
export function composerView(root, store, client) {
  const text = part(root, 'text', HTMLTextAreaElement);
  const stop = part(root, 'stop', HTMLButtonElement);
  const status = part(root, 'status', HTMLElement);
  let begun = ''; // what stood here when a message was taken back for editing

  root.addEventListener('submit', (event) => {
    event.preventDefault();
    if (text.value.trim() !== '' && client.send(text.value)) {
      text.value = begun;
      begun = '';
    }
    text.focus();
  });
  text.addEventListener('keydown', (event) => {
    // While an input method composes, Enter chooses a candidate.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    root.requestSubmit();
  });
  stop.addEventListener('click', () => {
    client.stop();
    text.focus();
  });
  const cancelEdit = part(root, 'cancel-edit', HTMLButtonElement);
  cancelEdit.addEventListener('click', () => {
    client.cancelEdit();
    text.value = begun;
    begun = '';
    text.focus();
  });
  store.watch(['lastPair'], ({ lastPair }) => {
    const is_edited = lastPair?.is_edited ?? false;
    if (is_edited && cancelEdit.hidden) {
      begun = text.value;
      text.value = '';
      text.focus();
    }
    cancelEdit.hidden = !is_edited;
    root.dataset.editing = String(is_edited);
  });
  part(root, 'reset', HTMLButtonElement).addEventListener('click', () => client.resetContext());
  part(root, 'clear', HTMLButtonElement).addEventListener('click', () => client.clearTranscript());

  store.watch(['returned'], ({ returned }) => {
    if (returned.revision > 0 && text.value === '') text.value = returned.text;
  });
  store.watch(['turn'], ({ turn }) => {
    stop.disabled = turn.kind !== 'running' || turn.is_stopping;
    status.textContent = describe(turn);
  });
}

/** @param {PageState['turn']} turn */
function describe(turn) {
  if (turn.kind === 'idle') return '';
  if (turn.is_stopping) return 'Stopping';
  if (turn.request === null) return 'Waiting for the model';
  const { progress } = turn;
  if (progress?.step !== 'prefill' || progress.done >= progress.total) return 'Writing';
  return `Reading the prompt: ${show(progress.done, 'count')} of ${show(progress.total, 'count')} tokens`;
}
