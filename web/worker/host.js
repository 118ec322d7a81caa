/**
 * The one object through which Python reaches the browser; its names are those of Python's Host.
 * Takes the open model bytes and the model store, gives plain functions: text and numbers cross,
 * and bytes are copied within the call. Decides nothing.
 */

import { databaseDelete, databaseGet, databaseList, databasePut } from './indexeddb.js';
import { countSharedBytes, openOnPythonMemory, openOnSharedMemory } from './kernel_threads.js';
import { LEDGER_FUNCTIONS } from './ledger_database.js';
import { makePause } from './pause.js';
import { prefixFunctions } from './saved_prefixes.js';
import { sha256 } from './sha256.js';
import { beginVisit } from './visit.js';

/** @typedef {import('./model_bytes.js').ModelBytes} ModelBytes */
/** @typedef {import('./model_bytes.js').PythonBuffer} PythonBuffer */

/** What 32-bit addresses reach. */
const WASM_LIMIT_BYTES = 2 ** 32;

/**
 * @typedef {object} HostParts
 * @property {(json: string) => void} post
 * @property {ModelBytes} bytes
 * @property {(sha256: string, bytes: ArrayBuffer) => Promise<void>} keepConverted
 * @property {() => Uint8Array} pythonHeap Python's memory as it is now
 * @property {() => unknown} pythonMemory the WebAssembly memory behind it, where that can be had
 */

/** @param {HostParts} parts */
export function makeHost({ post, bytes, keepConverted, pythonHeap, pythonMemory }) {
  return Object.freeze({
    post,
    now_ms: () => performance.now(),
    now_utc: () => new Date().toISOString(),
    begin_visit: beginVisit,
    pause: makePause(),
    heap_bytes: () => pythonHeap().byteLength + countSharedBytes(),
    heap_limit_bytes: () => WASM_LIMIT_BYTES,
    kernel_on_python_memory: (/** @type {PythonBuffer} */ module) =>
      openOnPythonMemory(module, pythonMemory()),
    kernel_on_shared_memory: (/** @type {PythonBuffer} */ module) =>
      openOnSharedMemory(module, pythonHeap),
    model_size: (/** @type {string} */ handle) => bytes.size(handle),
    model_read: (
      /** @type {string} */ handle,
      /** @type {number} */ offset,
      /** @type {PythonBuffer} */ target,
    ) => bytes.read(handle, offset, target),
    model_close: (/** @type {string} */ handle) => bytes.close(handle),
    model_write: (/** @type {string} */ handle, /** @type {PythonBuffer} */ data) =>
      bytes.write(handle, data),
    model_commit: async (/** @type {string} */ handle) => {
      const converted = await bytes.takeWritten(handle);
      const digest = await sha256(converted);
      await keepConverted(digest, converted);
      return JSON.stringify({
        handle: bytes.open(converted),
        sha256: digest,
        file_bytes: converted.byteLength,
      });
    },
    database_get: databaseGet,
    database_put: databasePut,
    database_delete: databaseDelete,
    database_list: databaseList,
    ...LEDGER_FUNCTIONS,
    ...prefixFunctions(bytes),
  });
}
