/** Sentences that a person should read: errors at once, remarks when there is time. */

import { fromTemplate, part, setTexts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../store.js').Notice} Notice */
/** @typedef {Record<'restart' | 'reload' | 'correct', () => void>} NoticeClient */

const ACTION_LABELS = Object.freeze({
  restart: 'Restart the engine',
  reload: 'Load the new version',
  correct: 'Update the memory',
});

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {NoticeClient} client
 */
export function noticesView(root, store, client) {
  /** @type {Map<number, HTMLElement>} */
  const shown = new Map();
  store.watch(['notices'], ({ notices }) => {
    // Elements stay as they are: a screen reader repeats an alert that is put in again.
    const ids = new Set(notices.map((notice) => notice.id));
    for (const [id, element] of shown) {
      if (ids.has(id)) continue;
      element.remove();
      shown.delete(id);
    }
    for (const notice of notices.filter(({ id }) => !shown.has(id))) {
      const element = draw(notice, store, client);
      shown.set(notice.id, element);
      root.append(element);
    }
  });
}

/**
 * @param {Notice} notice
 * @param {Store} store
 * @param {NoticeClient} client
 */
function draw({ topic, level, code, text, action }, store, client) {
  const element = fromTemplate('notice-template');
  element.dataset.level = level;
  element.setAttribute('role', level === 'error' ? 'alert' : 'status');
  setTexts(element, { text, code });
  part(element, 'dismiss', HTMLButtonElement).addEventListener('click', () => store.unsay([topic]));
  if (action) {
    const act = part(element, 'act', HTMLButtonElement);
    act.hidden = false;
    act.textContent = ACTION_LABELS[action];
    act.addEventListener('click', client[action]);
  }
  return element;
}
