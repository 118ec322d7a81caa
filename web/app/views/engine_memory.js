/**
 * What the model that is being loaded takes of the memory, as a bar and as numbers.
 * Takes the plan that was made from the file's header; computes no sizes of its own.
 */

import { part, setTexts, show } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../protocol.js').ModelPlan} ModelPlan */

/**
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function engineMemoryView(root, store) {
  const bar = part(root, 'bar', HTMLElement);
  const list = part(root, 'parts', HTMLElement);
  store.watch(['memoryPlan'], ({ memoryPlan: plan }) => {
    root.hidden = plan === null;
    if (!plan) return;
    root.dataset.fits = String(plan.fits);
    const parts = partsOf(plan);
    const whole = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    bar.replaceChildren(...parts.map(({ name, bytes }) => segment(name, bytes / whole)));
    list.replaceChildren(...parts.map(entry));
    const text = describe(plan);
    bar.setAttribute('aria-label', `Memory of ${plan.name}: ${text}`);
    setTexts(root, { text });
  });
}

/** @typedef {{name: string, label: string, bytes: number}} MemoryPart */

/**
 * @param {ModelPlan} plan
 * @returns {MemoryPart[]}
 */
function partsOf(plan) {
  return [
    { name: 'weights', label: 'Weights', bytes: plan.weight_bytes },
    { name: 'tokenizer', label: 'Tokenizer', bytes: plan.tokenizer_bytes },
    { name: 'kv', label: `KV ${plan.kv_cache} at first`, bytes: plan.kv_bytes_first },
    {
      name: 'kv-later',
      label: 'KV later',
      bytes: plan.kv_bytes_total - plan.kv_bytes_first,
    },
    { name: 'scratch', label: 'Scratch', bytes: plan.scratch_bytes },
    ...(plan.embedder_bytes > 0
      ? [{ name: 'embedder', label: 'Embedder beside it', bytes: plan.embedder_bytes }]
      : []),
  ];
}

/**
 * @param {string} name
 * @param {number} share
 */
function segment(name, share) {
  const element = document.createElement('span');
  element.dataset.segment = name;
  element.style.flexGrow = String(share);
  return element;
}

/** @param {MemoryPart} memoryPart */
function entry({ name, label, bytes }) {
  const item = document.createElement('li');
  item.dataset.segment = name;
  item.textContent = `${label} ${show(bytes, 'bytes')}`;
  item.title = `${show(bytes, 'count')} bytes`;
  return item;
}

/** @param {ModelPlan} plan */
function describe(plan) {
  const kv = `KV ${show(plan.kv_bytes_total, 'bytes')} in total`;
  const now = `heap ${show(plan.heap_bytes, 'bytes')} now`;
  const after = `${show(plan.heap_bytes_after, 'bytes')} when loaded`;
  const full = `${show(plan.heap_bytes_full, 'bytes')} at full context`;
  const limit = `of ${show(plan.limit_bytes, 'bytes')} at most`;
  return `${plan.op_set} engine: ${kv}; ${now}, ${after}, ${full}, ${limit}${plan.fits ? '' : ': does not fit'}.`;
}
