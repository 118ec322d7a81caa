/** What a change would do, before it is made: words kept, secrets, contradictions, the whole cone. */

import { fromTemplate, part, setTexts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../memory_protocol.js').ChangeReport} ChangeReport */
/** @typedef {import('../memory_protocol.js').MemoryChange} MemoryChange */
/** @typedef {import('../memory_protocol.js').Affected} Affected */

/** @type {Readonly<Record<MemoryChange['action'], string>>} */
const TITLES = Object.freeze({
  remember: 'Keep this?',
  confirm: 'Confirm this?',
  reject: 'Refuse this suggestion?',
  correct: 'Correct this?',
  forget: 'Delete for good?',
  retract: 'Take the message back?',
  keep: 'Change how long it is kept?',
  sweep: 'Delete what is past its time?',
  rebuild: 'Make these again?',
  keep_summary: 'Keep this summary?',
});

const SPREADS = Object.freeze({
  declared: 'is made of it',
  echoed: 'says the same',
  undeclared: 'hides its sources, so it counts as made of it',
});

const VERDICTS = Object.freeze({
  rebuild: 'will be made again from what is left',
  not_rebuildable: 'cannot be made again without you',
  not_worth_it: 'is not worth making again',
  has_no_sources: 'has no source left',
});

const WITHDRAWN = 'Withdrawn';
const PPM_PER_PERCENT = 10_000;
const HASH_CHARS = 12;

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {import('../memory_book.js').MemoryBook} book
 */
export function proposalView(root, store, book) {
  part(root, 'agree', HTMLButtonElement).addEventListener('click', () => book.agree());
  part(root, 'decline', HTMLButtonElement).addEventListener('click', () => book.decline());
  /** @type {unknown} */
  let drawn = null;
  store.watch(['memory'], ({ memory: { proposal } }) => {
    root.hidden = proposal === null;
    if (!proposal || proposal === drawn) return;
    drawn = proposal;
    const { change, report } = proposal;
    setTexts(root, { title: TITLES[change.action] });
    part(root, 'lines', HTMLElement).replaceChildren(...listLines(change, report).map(drawLine));
    const is_known = isKnown(change, report);
    part(root, 'agree', HTMLButtonElement).disabled = is_known;
    root.scrollIntoView({ block: 'nearest' });
    part(root, is_known ? 'decline' : 'agree', HTMLButtonElement).focus();
  });
}

/**
 * Whether agreeing would change nothing.
 * @param {MemoryChange} change
 * @param {ChangeReport} report
 */
function isKnown({ action }, { repeats, affected }) {
  if (action === 'rebuild') return !affected.some(({ verdict }) => verdict === 'rebuild');
  return ['remember', 'keep_summary'].includes(action) && repeats.length > 0;
}

/**
 * @param {MemoryChange} change
 * @param {ChangeReport} report
 * @returns {[name: string, text: string][]}
 */
function listLines(change, report) {
  const is_never = change.action === 'reject' && change.never;
  return [
    ...report.kept.map((row) => line('Will be kept', `${row.text} (tier ${row.tier})`)),
    ...report.secrets.map((secret) => line('Taken out', secret.kind)),
    ...report.repeats.map((row) => line('Already known', row.text)),
    ...report.contradicts.map((row) => line('Contradicts', row.text)),
    ...(is_never ? [line('Never again', 'nothing like it will be suggested')] : []),
    ...(report.erased.length > 0 ? [line('Deleted', describeErased(report.erased.length))] : []),
    ...(report.lineage ? describeLineage(report.lineage) : []),
    ...report.affected.map((item) => line(WITHDRAWN, describeAffected(item))),
    ...(report.affected.length > 0 ? [line('Balance', describeBalance(report.affected))] : []),
  ];
}

/** @param {number} count */
function describeErased(count) {
  return `${count} ${count === 1 ? 'record' : 'records'}, every version and product included`;
}

/**
 * @param {import('../memory_protocol.js').Lineage} lineage
 * @returns {[name: string, text: string][]}
 */
function describeLineage(lineage) {
  return [
    line('Written by', `${lineage.summariser}, version ${lineage.summariser_version}`),
    line('Made of', `${lineage.sources.length} messages`),
    line('Left out', lineage.omissions.join('; ') || 'nothing'),
    line('Sure', `${Math.round(lineage.confidence_ppm / PPM_PER_PERCENT)} %, not reviewed`),
    line('Rules', lineage.prompt_policy_hash.slice(0, HASH_CHARS)),
    ...lineage.supersedes.map((id) => line('Replaces', id)),
  ];
}

/**
 * What is made again, of how much that is withdrawn.
 * @param {readonly Affected[]} affected
 */
function describeBalance(affected) {
  const rebuilt = affected.filter(({ verdict }) => verdict === 'rebuild');
  const sum = (/** @type {readonly Affected[]} */ items, /** @type {'cost' | 'value'} */ name) =>
    items.reduce((total, item) => total + item[name], 0);
  return [
    `${rebuilt.length} of ${affected.length} made again`,
    `worth ${sum(rebuilt, 'value')} of ${sum(affected, 'value')}`,
    `at a cost of ${sum(rebuilt, 'cost')} of ${sum(affected, 'cost')}`,
  ].join(', ');
}

/**
 * @param {string} name
 * @param {string} text
 * @returns {[name: string, text: string]}
 */
function line(name, text) {
  return [name, text];
}

/** @param {Affected} item */
function describeAffected({ text, spread, verdict, cost, value, support, needs }) {
  const sources = support.length + needs.length;
  const left = sources === 1 ? 'one source' : `${sources} sources`;
  const price = sources > 0 ? ` (${left} left, worth ${value}, cost ${cost})` : '';
  return `“${text}” ${SPREADS[spread]}; ${VERDICTS[verdict]}${price}`;
}

/** @param {[name: string, text: string]} line */
function drawLine([name, value]) {
  const element = fromTemplate('fact-template');
  setTexts(element, { name, value });
  return element;
}
