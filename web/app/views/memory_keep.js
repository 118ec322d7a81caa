/** How long a record is kept: a choice, and a date for one of its cases. */

import { part } from '../dom.js';

/** @typedef {import('../memory_protocol.js').Keep} Keep */

/**
 * The date can be set only where it counts.
 * @param {HTMLFormElement} form
 */
export function bindKeepRule(form) {
  const rule = part(form, 'rule', HTMLSelectElement);
  const until = part(form, 'until', HTMLInputElement);
  rule.addEventListener('change', () => {
    until.disabled = rule.value !== 'until';
    until.required = !until.disabled;
  });
}

/**
 * @param {HTMLFormElement} form
 * @returns {Keep}
 */
export function readKeep(form) {
  const rule = /** @type {Keep['rule']} */ (part(form, 'rule', HTMLSelectElement).value);
  const until = part(form, 'until', HTMLInputElement);
  return { rule, until: rule === 'until' ? `${until.value}T00:00:00+00:00` : '' };
}
