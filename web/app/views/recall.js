/** What the message being written will look for in memory, and where that is changed. */

import { fromTemplate, part, showFacts } from '../dom.js';
import { listViews, TASKS, tellGist } from './recall_words.js';

/** @typedef {import('../retrieval_protocol.js').Correction} Correction */
/** @typedef {import('../store.js').RecallState} RecallState */
/** @typedef {import('../store.js').Store} Store */

/**
 * @typedef {object} RecallClient
 * @property {(text: string) => void} open
 * @property {() => void} close
 * @property {(text: string) => void} follow
 * @property {(patch: Partial<Correction>) => void} correct
 * @property {() => void} clear
 */

const NOTHING_WRITTEN = 'Write a message to see what it will look for.';

/**
 * @param {HTMLDetailsElement} root
 * @param {HTMLTextAreaElement} message
 * @param {Store} store
 * @param {RecallClient} client
 */
export function recallView(root, message, store, client) {
  const body = fromTemplate('recall-template');
  root.append(body);
  root.hidden = false;
  const task = part(body, 'task', HTMLSelectElement);
  task.append(...Object.entries(TASKS).map(([value, text]) => new Option(text, value)));

  root.addEventListener('toggle', () => (root.open ? client.open(message.value) : client.close()));
  message.addEventListener('input', () => client.follow(message.value));
  message.form?.addEventListener('submit', () => client.follow(message.value));
  body.addEventListener('change', () => client.correct(readFields(body)));
  body.addEventListener('keydown', (event) => {
    // Enter in these fields changes what is looked for, it does not send the message.
    if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    client.correct(readFields(body));
  });
  part(body, 'clear', HTMLButtonElement).addEventListener('click', () => client.clear());

  /** @type {Correction | null} */
  let known = null;
  store.watch(['recall'], ({ recall }) => {
    draw(root, body, recall);
    // Fields are emptied once, not under the hands of who writes into them.
    if (known !== null && recall.correction === null) emptyFields(body);
    known = recall.correction;
  });
}

/**
 * @param {HTMLElement} root
 * @param {HTMLElement} body
 * @param {RecallState} state
 */
function draw(root, body, { intent, correction, problem }) {
  const gist = intent ? tellGist(intent) : NOTHING_WRITTEN;
  part(body, 'gist', HTMLElement).textContent = problem ?? gist;
  showFacts(part(body, 'views', HTMLElement), intent ? listViews(intent) : []);
  const summary = root.querySelector('[data-part="changed"]');
  if (summary instanceof HTMLElement) summary.hidden = correction === null;
  part(body, 'clear', HTMLButtonElement).disabled = correction === null;
}

/**
 * @param {HTMLElement} body
 * @returns {Correction}
 */
function readFields(body) {
  const need = part(body, 'need', HTMLSelectElement).value;
  return {
    need: need === 'needed' || need === 'off' ? need : null,
    task: part(body, 'task', HTMLSelectElement).value || null,
    text: readText(body, 'text') || null,
    project: readText(body, 'project') || null,
    add_terms: readWords(body, 'add'),
    remove_terms: readWords(body, 'leave'),
    pins: readWords(body, 'pins'),
  };
}

/**
 * @param {HTMLElement} body
 * @param {string} name
 */
function readText(body, name) {
  return part(body, name, HTMLInputElement).value.trim();
}

/**
 * @param {HTMLElement} body
 * @param {string} name
 */
function readWords(body, name) {
  const parts = readText(body, name).split(',');
  return parts.map((word) => word.trim()).filter((word) => word !== '');
}

/** @param {HTMLElement} body */
function emptyFields(body) {
  for (const field of body.querySelectorAll('input, select'))
    if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = '';
}
