/** The plan of a turn in full: budget, records, findings and proof, over the whole page. */

import { part } from '../dom.js';
import { drawBudget } from './plan_budget.js';
import { drawFindings, drawProof } from './plan_findings.js';
import { planRecall } from './plan_recall.js';
import { drawRecord } from './plan_record.js';
import { planRows } from './plan_rows.js';

/** @typedef {import('../protocol.js').Plan} Plan */
/** @typedef {import('../store.js').ChatMessage} ChatMessage */
/** @typedef {import('../store.js').Store} Store */

/**
 * @typedef {object} PlanClient
 * @property {(message: number) => void} open
 * @property {() => void} openNewest
 * @property {() => void} close
 * @property {(record_id: string) => Promise<void>} showRecord
 * @property {() => void} closeRecord
 * @property {(document: import('../protocol.js').PlanDocument) => Promise<void>} save
 * @property {() => Promise<void>} copyHash
 */

/** @typedef {import('../retrieval_protocol.js').Retrieval} Retrieval */
/** @typedef {{message: number, question: string, plan: Plan, retrieval: Retrieval | null}} Turn */

const SHOWN_QUESTION_CHARS = 48;

/**
 * @param {HTMLDialogElement} root
 * @param {HTMLButtonElement} opener the button that opens the newest plan
 * @param {Store} store
 * @param {PlanClient} client
 */
export function planDialogView(root, opener, store, client) {
  const choice = part(root, 'turn', HTMLSelectElement);
  const record = part(root, 'record', HTMLElement);
  const rows = planRows(part(root, 'records', HTMLElement), (record_id) =>
    client.showRecord(record_id),
  );
  const recall = planRecall(part(root, 'recall', HTMLElement), (record_id) =>
    client.showRecord(record_id),
  );
  /** @type {Plan | null} */
  let drawn = null;
  bindControls(root, client);
  opener.addEventListener('click', () => client.openNewest());

  store.watch(['messages'], ({ messages }) => {
    opener.disabled = listTurns(messages).length === 0;
  });
  store.watch(['planView', 'messages'], ({ planView, messages }) => {
    const turns = planView.kind === 'open' ? listTurns(messages) : [];
    const turn = turns.find(
      ({ message }) => planView.kind === 'open' && message === planView.message,
    );
    if (planView.kind === 'closed' || !turn) {
      root.close();
      return;
    }
    offerTurns(choice, turns, turn);
    if (drawn !== turn.plan) {
      drawn = turn.plan;
      drawBudget(part(root, 'budget', HTMLElement), drawn.allowance);
      rows.draw(drawn);
      recall.draw(turn.retrieval);
      drawFindings(part(root, 'findings', HTMLElement), drawn);
      drawProof(part(root, 'proof', HTMLElement), drawn);
    }
    part(root, 'note', HTMLElement).textContent = planView.note;
    rows.point(planView.record.kind === 'none' ? null : planView.record.record_id);
    showRecord(record, planView.record, turn.plan);
    part(root, 'body', HTMLElement).dataset.record = planView.record.kind;
    if (!root.open) root.showModal();
  });
}

/**
 * @param {HTMLDialogElement} root
 * @param {PlanClient} client
 */
function bindControls(root, client) {
  const press = (/** @type {string} */ name, /** @type {() => void} */ act) =>
    part(root, name, HTMLButtonElement).addEventListener('click', act);
  press('close', () => client.close());
  press('copy-hash', () => client.copyHash());
  for (const name of /** @type {const} */ (['receipt', 'plan', 'request']))
    root
      .querySelector(`[data-document="${name}"]`)
      ?.addEventListener('click', () => client.save(name));
  const leaveRecord = () => {
    const row = root.querySelector('tr[aria-current] button');
    client.closeRecord();
    if (row instanceof HTMLElement) row.focus();
  };
  press('close-record', leaveRecord);
  part(root, 'record', HTMLElement).addEventListener('keydown', (event) => {
    // Escape leaves the record first, then the plan.
    if (event.key !== 'Escape') return;
    event.preventDefault();
    leaveRecord();
  });
  part(root, 'turn', HTMLSelectElement).addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement) client.open(Number(target.value));
  });
  // Also when the browser closes it, for Escape or a back gesture.
  root.addEventListener('close', () => {
    // The event comes late: by then another plan may have been opened.
    if (!root.open) client.close();
  });
}

/**
 * Moves the reader to a record when it is opened, and not again when it arrives.
 * @param {HTMLElement} root
 * @param {import('../store.js').RecordState} state
 * @param {Plan} plan
 */
function showRecord(root, state, plan) {
  const is_new = state.kind === 'asking';
  drawRecord(root, state, plan);
  if (is_new) part(root, 'title', HTMLElement).focus();
}

/**
 * @param {readonly ChatMessage[]} messages
 * @returns {Turn[]}
 */
function listTurns(messages) {
  /** @type {Turn[]} */
  const turns = [];
  let question = '';
  for (const message of messages) {
    if (message.role === 'user') question = message.text;
    else if (message.role === 'assistant' && message.plan)
      turns.push({
        message: message.id,
        question,
        plan: message.plan,
        retrieval: message.retrieval,
      });
  }
  return turns;
}

/**
 * @param {HTMLSelectElement} select
 * @param {readonly Turn[]} turns
 * @param {Turn} chosen
 */
function offerTurns(select, turns, chosen) {
  const options = turns.map(({ message, question }, index) => {
    const text = question.replaceAll(/\s+/g, ' ').slice(0, SHOWN_QUESTION_CHARS);
    return new Option(`${index + 1}: ${text}`, String(message));
  });
  const is_same =
    options.length === select.options.length &&
    options.every((option, index) => option.value === select.options[index]?.value);
  if (!is_same) select.replaceChildren(...options);
  select.value = String(chosen.message);
}
