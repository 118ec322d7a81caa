/**
 * Small JSON texts in IndexedDB, for Python's ports.
 * Takes a store name, a key and JSON text; a write is done when its transaction has completed.
 * Does not read what is in the texts and decides nothing.
 */

import { openDatabase, refused } from './database.js';

/**
 * @template T
 * @param {string} store
 * @param {IDBTransactionMode} mode
 * @param {(objects: IDBObjectStore) => IDBRequest<T>} ask
 * @returns {Promise<T>}
 */
async function run(store, mode, ask) {
  const database = await openDatabase();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(store, mode);
    const request = ask(transaction.objectStore(store));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(refused(request.error ?? transaction.error));
  });
}

/**
 * @param {string} store
 * @param {string} key
 * @returns {Promise<string | null>}
 */
export async function databaseGet(store, key) {
  return (await run(store, 'readonly', (objects) => objects.get(key))) ?? null;
}

/**
 * @param {string} store
 * @param {string} key
 * @param {string} json
 */
export async function databasePut(store, key, json) {
  await run(store, 'readwrite', (objects) => objects.put(json, key));
}

/**
 * @param {string} store
 * @param {string} key
 */
export async function databaseDelete(store, key) {
  await run(store, 'readwrite', (objects) => objects.delete(key));
}

/**
 * @param {string} store
 * @returns {Promise<string>} JSON list of [key, text], in key order
 */
export async function databaseList(store) {
  const database = await openDatabase();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(store, 'readonly');
    const objects = transaction.objectStore(store);
    const keys = objects.getAllKeys();
    const texts = objects.getAll();
    transaction.oncomplete = () =>
      resolve(JSON.stringify(keys.result.map((key, index) => [key, texts.result[index]])));
    transaction.onabort = () => reject(refused(transaction.error));
  });
}
