/**
 * How the next answer is drawn, how its rows may be reused, and the engine of the next load. A value
 * out of range is said and not used.
 */

import { part } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../protocol.js').GenerationSettings} GenerationSettings */

/**
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function settingsView(root, store) {
  const form = part(root, 'form', HTMLFormElement);
  const hint = part(root, 'settings-hint', HTMLElement);
  const maxTokens = form.elements.namedItem('max_tokens');

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', ({ target }) => {
    const { draft } = store.state;
    if (target instanceof HTMLTextAreaElement) {
      store.update({ draft: { ...draft, system: target.value } });
    } else if (isReuse(target)) {
      const value = target instanceof HTMLInputElement ? target.checked : target.value;
      store.update({ draft: { ...draft, reuse: { ...draft.reuse, [target.name]: value } } });
    } else if (target instanceof HTMLSelectElement) {
      store.update({ engineWish: { ...store.state.engineWish, [target.name]: target.value } });
      hint.textContent = store.state.model.facts ? 'Load model again to switch the engine.' : '';
    } else if (target instanceof HTMLInputElement) {
      hint.textContent = explain(target);
      if (!target.checkValidity()) return;
      const settings = { ...draft.settings, [target.name]: target.valueAsNumber };
      store.update({ draft: { ...draft, settings } });
    }
  });
  store.watch(['model'], ({ model }) => {
    if (!(maxTokens instanceof HTMLInputElement) || !model.facts) return;
    maxTokens.title = `The output limit of this model is ${model.facts.output_limit_tokens} tokens`;
  });
}

/**
 * @param {EventTarget | null} target
 * @returns {target is HTMLInputElement | HTMLSelectElement}
 */
function isReuse(target) {
  const is_control = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  return is_control && target.closest('[data-part="reuse"]') !== null;
}

/** @param {HTMLInputElement} input */
function explain(input) {
  if (input.validity.valid) return '';
  const name = input.labels?.[0]?.textContent ?? input.name;
  const used = 'the last valid value is used';
  if (input.validity.stepMismatch) return `${name} takes steps of ${input.step}; ${used}.`;
  return `${name} goes from ${input.min} to ${input.max}; ${used}.`;
}
