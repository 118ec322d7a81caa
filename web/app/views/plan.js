/** What entered the prompt, what stayed out and why, at which exact token cost. */

import { fromTemplate, part, setTexts, show, showFacts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../protocol.js').Allowance} Allowance */
/** @typedef {import('../protocol.js').PlanRow} PlanRow */

const SHORT_HASH_CHARS = 12;

/** @type {Readonly<Record<string, string>>} */
const KIND_NAMES = Object.freeze({
  system_text: 'System text',
  user_turn: 'Earlier message',
  assistant_turn: 'Earlier answer',
  current_message: 'This message',
  answer_frame: 'Answer frame',
});

/** @type {Readonly<Record<string, string>>} */
const REASONS = Object.freeze({
  does_not_fit: 'does not fit',
  older_than_dropped: 'older than one that fell away',
});

/**
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function planView(root, store) {
  store.watch(['plan'], ({ plan }) => {
    part(root, 'empty', HTMLElement).hidden = plan !== null;
    part(root, 'plan', HTMLElement).hidden = plan === null;
    if (!plan) return;
    const numbers = part(root, 'allowance', HTMLElement);
    const hash = plan.plan_hash.slice(0, SHORT_HASH_CHARS);
    showFacts(numbers, [...allowanceRows(plan.allowance), ['Plan', hash, plan.plan_hash]]);
    part(root, 'rows', HTMLElement).replaceChildren(
      ...plan.nodes.map((node) => drawRow(node, { is_kept: true, outcome: 'kept' })),
      ...plan.exclusions.map((row) => drawRow(row, { is_kept: false, outcome: reasonOf(row) })),
    );
  });
}

/**
 * @param {Allowance} allowance
 * @returns {[string, string][]}
 */
function allowanceRows(allowance) {
  const { guard_kept_tokens: kept, guard_tokens: guard } = allowance;
  const guard_text = kept === guard ? show(guard, 'count') : `${kept} of ${guard}`;
  return [
    [
      'Prompt',
      `${show(allowance.prompt_tokens, 'count')} of ${show(allowance.allowed_tokens, 'count')} tokens`,
    ],
    ['Prompt limit', show(allowance.prompt_limit_tokens, 'count')],
    ['Output reserve', show(allowance.output_reserve_tokens, 'count')],
    ['Guard', guard_text],
    ['Core block', show(allowance.core_tokens, 'count')],
    ['History', show(allowance.history_tokens, 'count')],
  ];
}

/** @param {{reason: string, step: string}} exclusion */
function reasonOf({ reason, step }) {
  return `left out: ${REASONS[reason] ?? reason} (${step})`;
}

/**
 * @param {PlanRow} row
 * @param {{is_kept: boolean, outcome: string}} verdict
 */
function drawRow(row, { is_kept, outcome }) {
  const element = fromTemplate('plan-row-template');
  element.dataset.kept = String(is_kept);
  element.title = `${row.node_id}, content ${row.content_hash.slice(0, SHORT_HASH_CHARS)}`;
  setTexts(element, {
    text: KIND_NAMES[row.kind] ?? row.kind,
    tier: String(row.tier),
    tokens: show(row.cost_tokens, 'count'),
    outcome,
  });
  return element;
}
