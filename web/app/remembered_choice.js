/**
 * One choice of the person, kept in this browser's database between visits.
 * Takes its name; gives two functions that reject where the browser refuses to keep anything.
 */

import { databaseGet, databasePut } from '../worker/indexeddb.js';

const STORE = 'settings';

/**
 * @param {string} name
 * @returns {import('./semantic_search.js').Keeper}
 */
export function rememberedChoice(name) {
  return Object.freeze({
    read: async () => JSON.parse((await databaseGet(STORE, name)) ?? 'null'),
    write: (choice) => databasePut(STORE, name, JSON.stringify(choice)),
  });
}
