/** Where the tokens of the context went: a stacked bar by tier with its limits, and the account. */

import { fromTemplate, part, setTexts, show } from '../dom.js';
import { nameTier } from './plan_words.js';

/** @typedef {import('../protocol.js').Allowance} Allowance */
/** @typedef {import('../plan_protocol.js').BudgetBar} BudgetBar */

const PERCENT = 100;
const HALF = 50;
const SMALL_SHARE = 0.25;

/**
 * @param {HTMLElement} root
 * @param {Allowance} allowance
 */
export function drawBudget(root, allowance) {
  const bars = allowance.bars.filter((bar) => bar.tokens > 0);
  const text = bars.map((bar) => `${nameBar(bar)} ${show(bar.tokens, 'count')}`).join(', ');
  const total = show(allowance.context_tokens, 'count');
  part(root, 'chart', HTMLElement).setAttribute(
    'aria-label',
    `${total} tokens of context: ${text}; allowed ${show(allowance.allowed_tokens, 'count')}`,
  );
  part(root, 'bar', HTMLElement).replaceChildren(...bars.map(drawSegment));
  part(root, 'legend', HTMLElement).replaceChildren(
    ...allowance.bars.map((bar) => drawLegend(bar, allowance)),
  );
  drawMarks(root, allowance);
  drawAlone(root, allowance);
  part(root, 'account', HTMLElement).replaceChildren(
    ...allowance.account.map((line) => make('li', line)),
  );
}

/**
 * @param {HTMLElement} root
 * @param {Allowance} allowance
 */
function drawMarks(root, allowance) {
  const {
    context_tokens: context,
    allowed_tokens: allowed,
    prompt_limit_tokens: limit,
  } = allowance;
  const above = part(root, 'marks-above', HTMLElement);
  const below = part(root, 'marks-below', HTMLElement);
  above.replaceChildren(drawMark('prompt limit', limit, context));
  below.replaceChildren(drawMark('allowed', allowed, context));
}

/**
 * Draws the prompt once more at full width when it is a small part of the context.
 * @param {HTMLElement} root
 * @param {Allowance} allowance
 */
function drawAlone(root, { bars, prompt_tokens, context_tokens }) {
  part(root, 'alone', HTMLElement).hidden = prompt_tokens > SMALL_SHARE * context_tokens;
  const text = `The prompt alone: ${show(prompt_tokens, 'count')} tokens`;
  part(root, 'alone-text', HTMLElement).textContent = text;
  const tiers = bars.filter(({ tier, tokens }) => tier !== null && tokens > 0);
  part(root, 'alone-bar', HTMLElement).replaceChildren(...tiers.map(drawSegment));
}

/**
 * A tick at its place; its label stands on the side where there is room.
 * @param {string} name
 * @param {number} tokens
 * @param {number} context
 */
function drawMark(name, tokens, context) {
  const mark = make('span', `${name} ${show(tokens, 'count')}`);
  const at = (tokens / context) * PERCENT;
  mark.dataset.side = at > HALF ? 'left' : 'right';
  mark.style.setProperty('--at', `${at}%`);
  return mark;
}

/** @param {BudgetBar} bar */
function drawSegment(bar) {
  const segment = make('span', '');
  mark(segment, bar);
  segment.title = `${nameBar(bar)}: ${show(bar.tokens, 'count')} tokens`;
  segment.style.setProperty('--tokens', String(bar.tokens));
  return segment;
}

/**
 * @param {BudgetBar} bar
 * @param {Allowance} allowance
 */
function drawLegend(bar, allowance) {
  const item = fromTemplate('legend-template');
  const is_cut = bar.name === 'guard' && bar.tokens < allowance.guard_tokens;
  const of = is_cut ? ` of ${show(allowance.guard_tokens, 'count')}` : '';
  setTexts(item, { name: nameBar(bar), tokens: `${show(bar.tokens, 'count')}${of}` });
  mark(part(item, 'name', HTMLElement), bar);
  return item;
}

/**
 * @param {HTMLElement} element
 * @param {BudgetBar} bar
 */
function mark(element, bar) {
  if (bar.tier === null) element.dataset.room = bar.name;
  else element.dataset.tier = String(bar.tier);
}

/** @param {BudgetBar} bar */
function nameBar(bar) {
  return bar.tier === null ? bar.name : nameTier(bar.tier);
}

/**
 * @param {'li' | 'span'} tag
 * @param {string} text
 */
function make(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
