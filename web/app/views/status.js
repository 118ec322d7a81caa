/** The masthead: whether the engine runs and whether the page works offline. */

import { part } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */

/**
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function statusView(root, store) {
  const engine = part(root, 'engine', HTMLElement);
  const offline = part(root, 'offline', HTMLElement);
  store.watch(['boot'], ({ boot }) => {
    document.documentElement.dataset.boot = boot.kind;
    engine.dataset.state = boot.kind;
    if (boot.kind === 'booting') engine.textContent = boot.progress.text;
    else engine.textContent = boot.kind === 'ready' ? 'Ready' : 'Did not start';
    if (boot.kind === 'ready') engine.title = describeStart(boot);
  });
  store.watch(['offline'], ({ offline: state }) => {
    const texts = {
      checking: '',
      saving: 'Saving for offline',
      saved: 'Works offline',
      unsupported: 'Not offline: this browser has no service worker',
      not_saved: 'Not saved for offline',
    };
    offline.hidden = state.kind === 'checking';
    offline.dataset.state = state.kind;
    offline.textContent = texts[state.kind];
    offline.title = state.kind === 'not_saved' ? state.text : '';
  });
}

/** @param {{took_ms: number, image: string}} boot */
function describeStart({ took_ms, image }) {
  const seconds = (took_ms / 1000).toFixed(1);
  return image === 'used' ? `Started in ${seconds} s from an image` : `Started in ${seconds} s`;
}
