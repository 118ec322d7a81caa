/**
 * Small JSON texts in IndexedDB, for Python's ports.
 * Takes a store name, a key and JSON text; a write is done when its transaction has completed.
 * Does not read what is in the texts and decides nothing.
 */

import { CodedError } from '../app/coded_error.js';

const DATABASE_NAME = 'tinyloom';
const DATABASE_VERSION = 1;
const STORE_NAMES = Object.freeze(['settings']);

/** @type {Promise<IDBDatabase> | null} */
let opening = null;

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE_NAME, DATABASE_VERSION);
    request.onupgradeneeded = () => {
      for (const name of STORE_NAMES) {
        if (!request.result.objectStoreNames.contains(name)) request.result.createObjectStore(name);
      }
    };
    request.onsuccess = () => {
      // A newer page in another tab must be able to upgrade; this one opens again when it needs to.
      request.result.onversionchange = () => {
        request.result.close();
        opening = null;
      };
      resolve(request.result);
    };
    request.onerror = () => {
      opening = null;
      reject(refused(request.error));
    };
  });
  return opening;
}

/** @param {DOMException | null} cause */
function refused(cause) {
  return new CodedError(
    'database_refused',
    `This browser refuses to keep data (${cause?.name ?? 'no reason given'}); it lasts until the tab closes.`,
  );
}

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
