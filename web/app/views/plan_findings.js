/** What the compiler met on its way: conflicts, duplicates, links, lanes, marks; and the proof. */

import { fromTemplate, part, setTexts, show, showFacts } from '../dom.js';
import { words } from './plan_words.js';

/** @typedef {import('../protocol.js').Plan} Plan */

const PPM = 1_000_000;

/**
 * @param {HTMLElement} root
 * @param {Plan} plan
 */
export function drawFindings(root, plan) {
  const findings = [
    drawFinding('Conflicts', plan.conflicts.map(tellConflict)),
    drawFinding('Duplicates', plan.duplicates.map(tellDuplicate)),
    drawFinding('Links and deletions', plan.graph_findings.map(tellFinding)),
    drawFinding('Lanes asked', plan.lanes.map(tellLane)),
    drawFinding('Summaries', plan.routing ? [tellRouting(plan.routing)] : []),
    drawFinding('Boundary mark', tellBoundary(plan)),
    drawFinding('Frames and marks', plan.frames.map(tellFrame)),
  ];
  part(root, 'list', HTMLElement).replaceChildren(...findings);
}

/**
 * @param {HTMLElement} root
 * @param {Plan} plan
 */
export function drawProof(root, plan) {
  showFacts(part(root, 'facts', HTMLElement), [
    ['Plan hash', plan.plan_hash],
    ['Prompt hash', plan.prompt_hash],
    ['Policy', `${plan.policy_version}, ${plan.policy_identity}`],
    ['Model', plan.model_identity],
    ['Tokenizer', plan.tokenizer_identity],
    ['Template', plan.template],
    ['Model class', plan.allowance.model_class],
    ['Truncation', words(plan.truncation_mode)],
    ['Memory', words(plan.memory_status)],
    ['Generation', plan.generation],
  ]);
}

/**
 * @param {string} name
 * @param {readonly string[]} items
 */
function drawFinding(name, items) {
  const element = fromTemplate('finding-template');
  setTexts(element, { name });
  part(element, 'items', HTMLElement).replaceChildren(
    ...(items.length > 0 ? items : ['none']).map((text) => {
      const item = document.createElement('li');
      item.textContent = text;
      return item;
    }),
  );
  return element;
}

/** @param {Plan['conflicts'][number]} conflict */
function tellConflict({ kind, slot, winner_id, loser_ids, resolution, updates_ledger }) {
  const ledger = updates_ledger ? '; the ledger should be corrected' : '';
  return `${slot}: ${winner_id} against ${loser_ids.join(', ')}: ${resolution} (${words(kind)})${ledger}`;
}

/** @param {Plan['duplicates'][number]} group */
function tellDuplicate({ kept_id, suppressed_ids }) {
  return `${kept_id} stands for ${suppressed_ids.join(', ')}`;
}

/** @param {Plan['graph_findings'][number]} finding */
function tellFinding({ kind, record_ids, effect }) {
  return `${words(kind)}: ${record_ids.join(', ')}: ${effect}`;
}

/** @param {Plan['lanes'][number]} lane */
function tellLane({ lane, status, candidates }) {
  return `${words(lane)}: ${words(status)}, ${show(candidates, 'count')} candidates`;
}

/** @param {NonNullable<Plan['routing']>} routing */
function tellRouting({ route, need_ppm, threshold_ppm, signs }) {
  const because = signs.length > 0 ? signs.map(words).join(', ') : 'no sign';
  return `route ${route}: need ${need_ppm / PPM} against ${threshold_ppm / PPM} (${because})`;
}

/** @param {Plan} plan */
function tellBoundary({ boundary: { mark, draws, is_used } }) {
  return is_used ? [`${mark} around the quoted text, draw ${draws}`] : [];
}

/** @param {Plan['frames'][number]} frame */
function tellFrame({ name, token_cost, text }) {
  return `${words(name)}, ${show(token_cost, 'count')} tokens: ${JSON.stringify(text)}`;
}
