/** What entered the prompt, what stayed out and why, at which exact token cost. */

import { fromTemplate, part, setTexts, show, showFacts } from '../dom.js';
import { nameReason, nameTemplate } from './plan_words.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../protocol.js').Allowance} Allowance */
/** @typedef {import('../protocol.js').PlanNode} PlanNode */
/** @typedef {import('../protocol.js').Exclusion} Exclusion */

const SHORT_HASH_CHARS = 12;

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
      ...plan.nodes.map(drawNode),
      drawFrames(plan.frames),
      ...plan.exclusions.map(drawExclusion),
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

/** @param {PlanNode} node */
function drawNode(node) {
  return drawRow(node, {
    text: nameTemplate(node.rendering_template),
    tier: String(node.tier),
    tokens: show(node.token_cost, 'count'),
    outcome: 'kept',
  });
}

/** @param {readonly import('../plan_protocol.js').PlanFrame[]} frames */
function drawFrames(frames) {
  const tokens = frames.reduce((sum, frame) => sum + frame.token_cost, 0);
  return drawRow(null, {
    text: 'Frames and marks',
    tier: '1',
    tokens: show(tokens, 'count'),
    outcome: 'kept',
  });
}

/** @param {Exclusion} exclusion */
function drawExclusion(exclusion) {
  return drawRow(exclusion, {
    text: exclusion.kind,
    tier: exclusion.tier === null ? '' : String(exclusion.tier),
    tokens: '',
    outcome: `left out: ${nameReason(exclusion.reason)} (${exclusion.step})`,
  });
}

/**
 * @param {PlanNode | Exclusion | null} record
 * @param {{text: string, tier: string, tokens: string, outcome: string}} cells
 */
function drawRow(record, cells) {
  const element = fromTemplate('plan-row-template');
  element.dataset.kept = String(cells.outcome === 'kept');
  if (record) {
    const hash = record.envelope_hash.slice(0, SHORT_HASH_CHARS);
    element.title = `${record.record_id}, envelope ${hash}`;
  }
  setTexts(element, cells);
  return element;
}
