/**
 * Which model the next visit loads by itself: the one that was loaded last.
 * Takes and gives a small record, in the browser's plainest store because it is there at once. Where
 * that store is refused nothing is remembered. Does not load anything.
 */

const KEY = 'tinyloom-last-model';

/** @typedef {{sha256: string, label: string, engine: import('./protocol.js').EngineWish}} LastModel */

/** @param {LastModel} model */
export function rememberModel(model) {
  attempt(() => localStorage.setItem(KEY, JSON.stringify(model)));
}

export function forgetModel() {
  attempt(() => localStorage.removeItem(KEY));
}

/**
 * Gives the model and forgets it, so that one which brings the tab down is not tried for ever.
 * @returns {LastModel | null}
 */
export function takeLastModel() {
  const text = attempt(() => localStorage.getItem(KEY));
  forgetModel();
  return attempt(() => JSON.parse(text ?? 'null'));
}

/**
 * @template T
 * @param {() => T} act
 * @returns {T | null}
 */
function attempt(act) {
  try {
    return act();
  } catch {
    return null; // Storage is refused here, or holds what nobody of us wrote.
  }
}
