/** What a message looks for, in words that a person can read. */

import { words } from './plan_words.js';

/** @typedef {import('../retrieval_protocol.js').Intent} Intent */

/** @type {Readonly<Record<string, string>>} */
export const TASKS = Object.freeze({
  continuation: 'going on with work',
  architecture: 'a decision or a design',
  code: 'code or an error',
  fact: 'a question about facts',
  summary: 'a summary',
  transformation: 'changing a given text',
  arithmetic: 'arithmetic',
  small_talk: 'small talk',
  general: 'anything else',
});

/** @type {Readonly<Record<string, string>>} */
const NEEDS = Object.freeze({
  needed: 'Memory is asked',
  not_needed: 'Memory is not asked: the task brings all it needs',
  off: 'Memory is off for this message',
});

/** @type {Readonly<Record<string, string>>} */
const REASONS = Object.freeze({
  user_command: 'by your command',
  user_correction: 'by your change',
});

const DAY_CHARS = 10;
const FIRST_DAY = '0001-01-01';

/** @param {Intent} intent */
export function tellGist({ need, reason, task }) {
  const because = REASONS[reason];
  return `${NEEDS[need]}${because ? ` ${because}` : ''}. Kind of task: ${TASKS[task] ?? words(task)}.`;
}

/**
 * @param {Intent} intent
 * @returns {[string, string][]}
 */
export function listViews(intent) {
  /** @type {[string, string][]} */
  const rows = [
    ['Question on its own', intent.semantic_text],
    ['Word stems', intent.terms.join(', ')],
    ['Letter by letter', intent.exact.join(', ')],
    ['Names', intent.names.join(', ')],
    ['Project', intent.project],
    ['Lanes', intent.lanes.join(', ')],
    ['Goes first', intent.pins.join(', ')],
    ['Time', tellTimes(intent)],
    ['Taken for', intent.resolutions.map(tellResolution).join('; ')],
  ];
  return rows.filter(([, value]) => value !== '');
}

/** @param {Intent['resolutions'][number]} resolution */
function tellResolution({ expression, meaning }) {
  return `“${expression}”: ${meaning}`;
}

/** @param {Intent} intent */
function tellTimes({ ranges, events, wants_latest, wants_date }) {
  const known = ranges.map(({ start, stop }) => `${tellStart(start)}up to ${day(stop)}`);
  const unknown = events.map(({ relation, event }) => `${relation} the ${event}`);
  const wishes = [
    ...(wants_latest ? ['how things stand now'] : []),
    ...(wants_date ? ['when it was'] : []),
  ];
  return [...known, ...unknown, ...wishes].join('; ');
}

/** @param {string} start */
function tellStart(start) {
  return day(start) === FIRST_DAY ? '' : `${day(start)} `;
}

/** @param {string} time */
function day(time) {
  return time.slice(0, DAY_CHARS);
}
