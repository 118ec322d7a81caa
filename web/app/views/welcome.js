/** What stands in an empty transcript: what this is, and the steps of the start. */

import { fromTemplate, part, setTexts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../store.js').BootState} BootState */

const STEPS = Object.freeze([
  ['runtime', 'Start Python'],
  ['packages', 'Unpack numpy and pydantic'],
  ['wheel', 'Install Tinyloom'],
  ['start', 'Start Tinyloom'],
]);

/**
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function welcomeView(root, store) {
  const steps = part(root, 'steps', HTMLElement);
  const bar = part(root, 'boot-bar', HTMLProgressElement);
  const text = part(root, 'boot-text', HTMLElement);
  store.watch(['boot'], ({ boot }) => {
    steps.replaceChildren(
      ...STEPS.map(([, name], index) => drawStep(name ?? '', stateOf(index, boot))),
    );
    steps.hidden = boot.kind === 'ready';
    bar.hidden = boot.kind !== 'booting';
    if (boot.kind === 'booting') bar.value = boot.progress.done;
    text.textContent = textOf(boot);
  });
  store.watch(['messages'], ({ messages }) => {
    root.hidden = messages.length > 0;
  });
}

/**
 * @param {number} index
 * @param {BootState} boot
 */
function stateOf(index, boot) {
  if (boot.kind !== 'booting') return boot.kind === 'ready' ? 'done' : 'not done';
  if (index < boot.progress.done) return 'done';
  return index === boot.progress.done ? 'running' : 'waiting';
}

/** @param {BootState} boot */
function textOf(boot) {
  if (boot.kind === 'ready') return `Python started in ${(boot.took_ms / 1000).toFixed(1)} s.`;
  return boot.kind === 'failed' ? boot.text : '';
}

/**
 * @param {string} name
 * @param {string} state
 */
function drawStep(name, state) {
  const step = fromTemplate('boot-step-template');
  step.dataset.state = state;
  setTexts(step, { name, state });
  return step;
}
