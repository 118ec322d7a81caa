/** The switch of the search by meaning, and how far it is. */

import { part, show } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../store.js').PageState} PageState */

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {{choose: (is_wanted: boolean) => void}} search
 */
export function semanticSearchView(root, store, search) {
  const choice = part(root, 'choice', HTMLSelectElement);
  const state = part(root, 'state', HTMLElement);
  choice.addEventListener('change', () => search.choose(choice.value === 'on'));
  store.watch(['embedder', 'shelf', 'model'], (page) => {
    choice.value = page.embedder.is_wanted === false ? 'off' : 'on';
    state.dataset.state = page.embedder.stage;
    state.textContent = describe(page);
  });
}

/** @param {PageState} page */
function describe({ embedder, shelf, model }) {
  const { stage, facts, is_wanted, problem } = embedder;
  if (is_wanted === false) return 'Records are found by words alone.';
  if (stage === 'loading') return 'Loading the embedder.';
  if (stage === 'failed') return `By words alone: ${problem}`;
  if (facts) {
    const waiting = facts.missing > 0 ? `, ${show(facts.missing, 'count')} wait` : '';
    const size = show(facts.weight_bytes, 'bytes');
    return `${facts.name} (${facts.op_set}, ${size}): ${show(facts.vectors, 'count')} records with vectors${waiting}.`;
  }
  if (shelf.kind === 'known' && shelf.embedders.length === 0)
    return 'No embedder here: records are found by words alone.';
  return model.facts ? 'Starts when the page is quiet.' : 'Starts after a model is loaded.';
}
