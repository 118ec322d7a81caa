/**
 * What models had read of system texts, kept for later visits: a few entries, the least used go.
 * Takes keys and bytes from Python, which verifies what it gets back; gives JSON, or
 * {"error": name} with the browser's own name for what went wrong. Entries belong to a model and
 * go with it. Does not know what the bytes mean.
 */

import { coded } from '../app/coded_error.js';
import { openDatabase, PREFIX_USES, PREFIXES, refused } from './database.js';

/** @typedef {import('./model_bytes.js').ModelBytes} ModelBytes */
/** @typedef {import('./model_bytes.js').PythonBuffer} PythonBuffer */
/** @typedef {{key: string, model: string, size: number, used_ms: number}} Use */

const MOST_ENTRIES = 4;
const MOST_BYTES = 64 * 2 ** 20;

/**
 * The functions for Python.
 * @param {ModelBytes} bytes where an entry is opened for reading
 */
export function prefixFunctions(bytes) {
  return Object.freeze({
    prefix_open: (/** @type {string} */ key) =>
      answered(async () => {
        const data = await take(key);
        return { handle: data ? bytes.open(data) : null };
      }),
    prefix_put: (
      /** @type {string} */ key,
      /** @type {string} */ model,
      /** @type {PythonBuffer} */ source,
    ) => {
      const data = copyOf(source);
      return answered(async () => {
        await put({ key, model, size: data.byteLength, used_ms: Date.now() }, data);
        return { is_kept: true };
      });
    },
    prefix_remove: (/** @type {string} */ key) =>
      answered(async () => {
        await change((uses) => uses.filter((use) => use.key === key));
        return {};
      }),
  });
}

/**
 * Lets go of all entries of a model; a browser that refuses has none.
 * @param {string} model
 */
export async function forgetPrefixesOf(model) {
  await change((uses) => uses.filter((use) => use.model === model)).catch(() => undefined);
}

/**
 * @param {string} key
 * @returns {Promise<ArrayBuffer | null>}
 */
async function take(key) {
  const database = await openDatabase();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction([PREFIXES, PREFIX_USES], 'readwrite');
    const found = transaction.objectStore(PREFIXES).get(key);
    const uses = transaction.objectStore(PREFIX_USES);
    /** @type {IDBRequest<Use | undefined>} */
    const use = uses.get(key);
    use.onsuccess = () => {
      if (use.result) uses.put({ ...use.result, used_ms: Date.now() });
    };
    transaction.oncomplete = () => resolve(found.result ?? null);
    transaction.onabort = () => reject(refused(transaction.error));
  });
}

/**
 * @param {Use} use
 * @param {ArrayBuffer} data
 */
function put(use, data) {
  return change(
    (uses) => tooMany([use, ...uses.filter(({ key }) => key !== use.key)]),
    (transaction) => {
      transaction.objectStore(PREFIXES).put(data, use.key);
      transaction.objectStore(PREFIX_USES).put(use);
    },
  );
}

/**
 * Which entries have to make room, the newest staying.
 * @param {Use[]} uses
 */
function tooMany(uses) {
  const newestFirst = uses.toSorted((a, b) => b.used_ms - a.used_ms);
  let bytes = 0;
  return newestFirst.filter(({ size }, index) => {
    bytes += size;
    return index > 0 && (index >= MOST_ENTRIES || bytes > MOST_BYTES);
  });
}

/**
 * Removes entries after a look at all of them, in one transaction with what is written besides.
 * @param {(uses: Use[]) => Use[]} chooseGone
 * @param {(transaction: IDBTransaction) => void} [write]
 * @returns {Promise<void>}
 */
async function change(chooseGone, write = () => {}) {
  const database = await openDatabase();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction([PREFIXES, PREFIX_USES], 'readwrite');
    /** @type {IDBRequest<Use[]>} */
    const all = transaction.objectStore(PREFIX_USES).getAll();
    all.onsuccess = () => {
      for (const { key } of chooseGone(all.result)) {
        transaction.objectStore(PREFIXES).delete(key);
        transaction.objectStore(PREFIX_USES).delete(key);
      }
      write(transaction);
    };
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(refused(transaction.error));
  });
}

/** @param {PythonBuffer} source */
function copyOf(source) {
  const view = source.getBuffer('u8');
  try {
    return view.data.slice().buffer;
  } finally {
    view.release();
  }
}

/** @param {() => Promise<object>} ask */
async function answered(ask) {
  try {
    return JSON.stringify(await ask());
  } catch (thrown) {
    return JSON.stringify({ error: coded(thrown).details?.name ?? 'UnknownError' });
  }
}
