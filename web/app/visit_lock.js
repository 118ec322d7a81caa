/**
 * A page tells by a shared lock that a visit is going on.
 * Takes nothing; the browser lets go of the lock when the page goes. Does not know the memory.
 */

export const VISIT_LOCK = 'tinyloom-visit';

/** Holds the lock as long as this page is open; asked for when the first worker is ready. */
export function holdVisit() {
  navigator.locks?.request(VISIT_LOCK, { mode: 'shared' }, () => new Promise(() => {}));
}
