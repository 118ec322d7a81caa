/**
 * Which model the next visit loads by itself: the one that was loaded last.
 * Takes and gives a small record. Where the browser refuses to keep it nothing is remembered. Does
 * not load anything.
 */

import { databaseDelete, databaseGet, databasePut } from './indexeddb.js';

const STORE = 'settings';
const KEY = 'last_model';

/** @typedef {import('../app/store_protocol.js').LastModel} LastModel */

/** @param {LastModel | null} model */
export async function rememberModel(model) {
  const done = model ? databasePut(STORE, KEY, JSON.stringify(model)) : databaseDelete(STORE, KEY);
  await done.catch(() => {}); // The next visit then starts without a model, as a first one does.
}

/**
 * Gives the model and forgets it, so that one which brings the tab down is not tried for ever.
 * @returns {Promise<LastModel | null>}
 */
export async function takeLastModel() {
  try {
    const json = await databaseGet(STORE, KEY);
    if (json === null) return null;
    databaseDelete(STORE, KEY).catch(() => {}); // comes before whatever is remembered next
    return JSON.parse(json);
  } catch {
    return null;
  }
}
