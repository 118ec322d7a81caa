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
});

const SPREADS = Object.freeze({
  declared: 'made of it',
  echoed: 'says the same',
  undeclared: 'hides its sources, so it counts as made of it',
});

const VERDICTS = Object.freeze({
  rebuild: 'will be made again from what is left',
  not_rebuildable: 'cannot be made again without you',
  not_worth_it: 'is not worth making again',
  has_no_sources: 'has no source left',
});

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
    const is_known = change.action === 'remember' && report.repeats.length > 0;
    part(root, 'agree', HTMLButtonElement).disabled = is_known;
    root.scrollIntoView({ block: 'nearest' });
    part(root, is_known ? 'decline' : 'agree', HTMLButtonElement).focus();
  });
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
    ...(report.erased.length > 0
      ? [line('Deleted', `${report.erased.length} records, every version and product included`)]
      : []),
    ...report.affected.map((item) => line('Withdrawn', describeAffected(item))),
  ];
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
function describeAffected({ text, spread, verdict }) {
  return `${text}: ${SPREADS[spread]}; ${VERDICTS[verdict]}`;
}

/** @param {[name: string, text: string]} line */
function drawLine([name, value]) {
  const element = fromTemplate('fact-template');
  setTexts(element, { name, value });
  return element;
}
