/** The records of a plan as rows, kept and left out, with filter and search. */

import { fromTemplate, part, setTexts, show } from '../dom.js';
import { nameReason, nameTemplate, nameTier, words } from './plan_words.js';

/** @typedef {import('../protocol.js').Plan} Plan */
/** @typedef {import('../protocol.js').PlanNode} PlanNode */
/** @typedef {import('../protocol.js').Exclusion} Exclusion */

/**
 * @typedef {object} Row
 * @property {string} record_id
 * @property {string} kind
 * @property {number | null} tier
 * @property {number | null} tokens
 * @property {string} outcome
 * @property {string} reason empty for what was kept
 * @property {string} template
 * @property {string} level
 * @property {string} step
 * @property {string} haystack what the search looks at
 */

/**
 * @param {HTMLElement} root
 * @param {(record_id: string) => void} openRecord
 * @returns {{draw: (plan: Plan) => void, point: (record_id: string | null) => void}}
 */
export function planRows(root, openRecord) {
  const form = part(root, 'filter', HTMLFormElement);
  const body = part(root, 'rows', HTMLElement);
  /** @type {{row: Row, element: HTMLElement}[]} */
  let drawn = [];
  /** @type {Plan | null} */
  let shown = null;

  const filter = () => {
    if (!shown) return;
    const wanted = readFilter(form);
    for (const { row, element } of drawn) element.hidden = !isWanted(row, wanted);
    part(root, 'count', HTMLElement).textContent = describe(drawn, shown);
  };
  form.addEventListener('input', filter);
  form.addEventListener('submit', (event) => event.preventDefault());
  body.addEventListener('click', ({ target }) => {
    const row = target instanceof Element && target.closest('tr');
    if (row instanceof HTMLElement && row.dataset.record) openRecord(row.dataset.record);
  });

  return {
    draw(plan) {
      const rows = [...plan.nodes.map(keptRow), ...plan.exclusions.map(leftOutRow)];
      drawn = rows.map((row) => ({ row, element: drawRow(row) }));
      shown = plan;
      form.reset();
      offer(part(root, 'tier', HTMLSelectElement), tierOptions(rows));
      offer(part(root, 'reason', HTMLSelectElement), reasonOptions(rows));
      body.replaceChildren(...drawn.map(({ element }) => element));
      filter();
    },
    point(record_id) {
      for (const { row, element } of drawn) {
        if (row.record_id === record_id) element.setAttribute('aria-current', 'true');
        else element.removeAttribute('aria-current');
      }
    },
  };
}

/**
 * @param {PlanNode} node
 * @returns {Row}
 */
function keptRow(node) {
  const { record_id, kind, tier, level, rendering_template, flags, text } = node;
  const flagged = flags.length > 0 ? `: ${flags.map(words).join(', ')}` : '';
  const template = nameTemplate(rendering_template);
  const outcome = `kept${flagged}`;
  const haystack = [record_id, kind, nameTier(tier), outcome, template, level, text];
  return {
    ...{ record_id, kind, tier, template, outcome, reason: '', level: words(level) },
    ...{ tokens: node.token_cost, step: '', haystack: haystack.join(' ').toLowerCase() },
  };
}

/**
 * @param {Exclusion} exclusion
 * @returns {Row}
 */
function leftOutRow({ record_id, kind, tier, reason, step, superseded_by }) {
  const by = superseded_by.length > 0 ? ` (${superseded_by.join(', ')})` : '';
  const outcome = `left out: ${nameReason(reason)}${by}`;
  const haystack = [record_id, kind, nameTier(tier), outcome, words(reason), words(step)];
  return {
    ...{ record_id, kind, tier, reason, outcome, tokens: null, template: '', level: '' },
    ...{ step: words(step), haystack: haystack.join(' ').toLowerCase() },
  };
}

/** @param {Row} row */
function drawRow(row) {
  const element = fromTemplate('plan-record-row-template');
  element.dataset.record = row.record_id;
  element.dataset.kept = String(row.reason === '');
  setTexts(element, {
    ...{ record: row.record_id, kind: row.kind, outcome: row.outcome, tier: nameTier(row.tier) },
    ...{ template: row.template, level: row.level, step: row.step },
    tokens: row.tokens === null ? '' : show(row.tokens, 'count'),
  });
  if (row.tier !== null) part(element, 'tier', HTMLElement).dataset.tier = String(row.tier);
  return element;
}

/** @typedef {{search: string, outcome: string, tier: string, reason: string}} Wanted */

/**
 * @param {HTMLFormElement} form
 * @returns {Wanted}
 */
function readFilter(form) {
  return {
    search: part(form, 'search', HTMLInputElement).value.trim().toLowerCase(),
    outcome: part(form, 'outcome', HTMLSelectElement).value,
    tier: part(form, 'tier', HTMLSelectElement).value,
    reason: part(form, 'reason', HTMLSelectElement).value,
  };
}

/**
 * @param {Row} row
 * @param {Wanted} wanted
 */
function isWanted(row, { search, outcome, tier, reason }) {
  const is_kept = row.reason === '';
  if (outcome !== '' && is_kept !== (outcome === 'kept')) return false;
  if (tier !== '' && String(row.tier ?? 'none') !== tier) return false;
  if (reason !== '' && row.reason !== reason) return false;
  return row.haystack.includes(search);
}

/**
 * @param {readonly {row: Row, element: HTMLElement}[]} drawn
 * @param {Plan} plan
 */
function describe(drawn, plan) {
  const visible = drawn.filter(({ element }) => !element.hidden);
  const tokens = visible.reduce((sum, { row }) => sum + (row.tokens ?? 0), 0);
  const frames = plan.frames.reduce((sum, frame) => sum + frame.token_cost, 0);
  const rows = `${visible.length} of ${drawn.length} records, ${show(tokens, 'count')} tokens`;
  return `${rows}. Frames and marks take ${show(frames, 'count')} more.`;
}

/**
 * @param {HTMLSelectElement} select
 * @param {readonly (readonly [value: string, text: string])[]} options
 */
function offer(select, options) {
  const all = new Option('All', '');
  select.replaceChildren(all, ...options.map(([value, text]) => new Option(text, value)));
}

/**
 * @param {readonly Row[]} rows
 * @returns {[string, string][]}
 */
function tierOptions(rows) {
  const tiers = new Set(rows.map(({ tier }) => tier));
  const ordered = [...tiers].sort((one, other) => (one ?? Infinity) - (other ?? Infinity));
  return ordered.map((tier) => [String(tier ?? 'none'), nameTier(tier)]);
}

/**
 * @param {readonly Row[]} rows
 * @returns {[string, string][]}
 */
function reasonOptions(rows) {
  const reasons = new Set(rows.map(({ reason }) => reason).filter((reason) => reason !== ''));
  return [...reasons].sort().map((reason) => [reason, nameReason(reason)]);
}
