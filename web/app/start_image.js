/**
 * Has an image of the started Python made, so that later visits are ready at once.
 * Takes the store; starts a worker for it when the page is saved and nothing is going on, and ends
 * that worker when something begins. Does not know what an image is.
 */

import { siteUrl } from './site_url.js';

/** @typedef {import('./store.js').PageState} PageState */
/** @typedef {import('./store.js').Store} Store */

const QUIET_MS = 5_000;
/** Making it takes a second Python for some seconds; a small device is spared. */
const LEAST_MEMORY_GB = 4;

/** @param {Store} store */
export function keepStartImage(store) {
  const memory_gb = Reflect.get(navigator, 'deviceMemory') ?? LEAST_MEMORY_GB;
  if (memory_gb < LEAST_MEMORY_GB) return;
  let is_done = false;
  /** @type {Worker | null} */
  let worker = null;
  let timer = 0;
  const begin = () => {
    worker = new Worker(siteUrl('worker/image_worker.js'), { type: 'module' });
    const end = (/** @type {Event} */ event) => {
      event.preventDefault();
      is_done = true;
      worker?.terminate();
    };
    worker.addEventListener('message', end);
    worker.addEventListener('error', end);
  };
  store.watch(['boot', 'offline', 'model', 'turn'], (state) => {
    clearTimeout(timer);
    if (is_done) return;
    worker?.terminate();
    worker = null;
    if (mayBegin(state)) timer = setTimeout(begin, QUIET_MS);
  });
}

/** @param {PageState} state */
function mayBegin({ boot, offline, model, turn }) {
  const is_wanted = boot.kind === 'ready' && boot.image === 'none' && offline.kind === 'saved';
  return is_wanted && !model.loading && turn.kind === 'idle';
}
