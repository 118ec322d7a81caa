/**
 * Whether this tab begins a visit, or joins one that goes on in another tab.
 * Takes nothing; gives the answer once and holds a shared lock for as long as the tab lives. What
 * was kept for a visit ends with the next one, not when a second tab is opened.
 */

const LOCK = 'tinyloom-visit';

/** @returns {Promise<boolean>} */
export async function beginVisit() {
  const { held = [] } = await navigator.locks.query();
  const is_first = !held.some(({ name }) => name === LOCK);
  navigator.locks.request(LOCK, { mode: 'shared' }, () => new Promise(() => {}));
  return is_first;
}
