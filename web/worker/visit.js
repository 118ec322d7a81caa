/**
 * Whether a visit begins with this worker, or goes on in another tab or after an engine was
 * replaced. Takes the locks that pages hold, as they are when this module is loaded; gives one
 * answer. Does not know what ends with a visit.
 */

import { VISIT_LOCK } from '../app/visit_lock.js';

const asked = navigator.locks?.query();

/** @returns {Promise<boolean>} */
export async function beginVisit() {
  const { held = [] } = (await asked) ?? {};
  return !held.some(({ name }) => name === VISIT_LOCK);
}
