/** One record of a plan: its text, what became of it, and every field of its envelope. */

import { part, showFacts } from '../dom.js';
import { words } from './plan_words.js';

/** @typedef {import('../protocol.js').Plan} Plan */
/** @typedef {import('../protocol.js').PlanRecord} PlanRecord */
/** @typedef {import('../store.js').RecordState} RecordState */

/**
 * @param {HTMLElement} root
 * @param {RecordState} state
 * @param {Plan} plan
 */
export function drawRecord(root, state, plan) {
  root.hidden = state.kind === 'none';
  if (state.kind === 'none') return;
  const shown = state.kind === 'shown' ? state : null;
  part(root, 'title', HTMLElement).textContent = state.record_id;
  part(root, 'state', HTMLElement).textContent = describe(state);
  const text = shown?.record.payload.text;
  showText(root, 'text', typeof text === 'string' ? text : '');
  const node = plan.nodes.find(({ record_id }) => record_id === state.record_id);
  showText(root, 'entered', shown && node ? node.text : '');
  const fields = part(root, 'fields', HTMLElement);
  showFacts(fields, shown ? fieldRows(shown.record, shown.envelope_hash) : []);
}

/** @param {RecordState} state */
function describe(state) {
  if (state.kind === 'asking') return 'Fetching the record';
  return state.kind === 'refused' ? state.text : '';
}

/**
 * @param {HTMLElement} root
 * @param {'text' | 'entered'} name
 * @param {string} text
 */
function showText(root, name, text) {
  part(root, `${name}-title`, HTMLElement).hidden = text === '';
  const holder = part(root, name, HTMLElement);
  holder.hidden = text === '';
  holder.textContent = text;
}

/**
 * @param {PlanRecord} record
 * @param {string} envelope_hash
 * @returns {[string, string][]}
 */
function fieldRows(record, envelope_hash) {
  const { payload, ...envelope } = record;
  const { text: _, ...rest } = payload;
  return Object.entries({ ...envelope, envelope_hash, ...rest })
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => [words(name), write(value)]);
}

/** @param {unknown} value */
function isEmpty(value) {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function write(value) {
  if (Array.isArray(value)) return value.map(write).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).filter(([, item]) => !isEmpty(item));
  return entries.map(([name, item]) => `${words(name)} ${write(item)}`).join(', ');
}
