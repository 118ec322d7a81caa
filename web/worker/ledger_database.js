/**
 * Python's storage port over IndexedDB: rows with revisions, commits that are all or nothing.
 * Takes names of areas, revisions and JSON; gives JSON, or {"error": name} with the browser's own
 * name for what went wrong. A commit is answered when its transaction is complete and on disk; one
 * that was decided on an old revision writes nothing, so tabs cannot overwrite each other. Does
 * not read what is in the texts.
 */

import { coded } from '../app/coded_error.js';
import {
  BY_REVISION,
  LEDGER_AREAS,
  LEDGER_STATE,
  openDatabase,
  PREFIX_USES,
  PREFIXES,
  refused,
} from './database.js';

const STATE_KEY = 'state';

/** @typedef {{key: string, revision: number, text: string | null}} Row */
/** @typedef {{revision: number, wiped_at: number}} State */

export const LEDGER_FUNCTIONS = Object.freeze({
  ledger_changes: answered(readChanges),
  ledger_read: answered(readTexts),
  ledger_commit: answered(commit),
  ledger_wipe: answered(wipe),
  ledger_measure: answered(measure),
  ledger_persist: answered(async () => ({ is_persistent: await isPersistent() })),
});

/**
 * @param {string} area
 * @param {number} since
 */
async function readChanges(area, since) {
  return transact([area], 'readonly', (transaction, finish) => {
    const stateRequest = readState(transaction);
    const store = transaction.objectStore(area);
    /** @type {IDBRequest<Row[]>} */
    const rowsRequest =
      since === 0
        ? store.getAll()
        : store.index(BY_REVISION).getAll(IDBKeyRange.lowerBound(since, true));
    transaction.addEventListener('complete', () => {
      const rows = rowsRequest.result;
      // The index gives the order of revisions, the port promises that of keys.
      if (since > 0) rows.sort((a, b) => (a.key < b.key ? -1 : 1));
      finish({
        ...stateOf(stateRequest),
        rows: rows.map(({ key, revision, text }) => [key, revision, text]),
      });
    });
  });
}

/**
 * @param {string} area
 * @param {string} keysJson
 */
async function readTexts(area, keysJson) {
  /** @type {string[]} */
  const keys = JSON.parse(keysJson);
  return transact([area], 'readonly', (transaction, finish) => {
    const store = transaction.objectStore(area);
    const requests = keys.map((key) => store.get(key));
    transaction.addEventListener('complete', () => {
      const rows = requests.map((request) => /** @type {Row | undefined} */ (request.result));
      const texts = rows.flatMap((row) => (row && row.text !== null ? [[row.key, row.text]] : []));
      finish({ texts });
    });
  });
}

/**
 * @param {number} base
 * @param {string} changesJson JSON list of [area, key, text or null]
 */
async function commit(base, changesJson) {
  /** @type {[area: string, key: string, text: string | null][]} */
  const changes = JSON.parse(changesJson);
  const areas = [...new Set(changes.map(([area]) => area))];
  return transact(areas, 'readwrite', (transaction, finish) => {
    const stateRequest = readState(transaction);
    stateRequest.addEventListener('success', () => {
      const state = stateOf(stateRequest);
      if (state.revision !== base) {
        finish({ revision: state.revision, is_committed: false });
        return;
      }
      const revision = base + 1;
      for (const [area, key, text] of changes) {
        transaction.objectStore(area).put({ key, revision, text });
      }
      transaction.objectStore(LEDGER_STATE).put({ ...state, revision }, STATE_KEY);
      finish({ revision, is_committed: true });
    });
  });
}

/** Takes what models had read of system texts along: they are words of the user as well. */
async function wipe() {
  return transact([...LEDGER_AREAS, PREFIXES, PREFIX_USES], 'readwrite', (transaction, finish) => {
    transaction.objectStore(PREFIXES).clear();
    transaction.objectStore(PREFIX_USES).clear();
    const stateRequest = readState(transaction);
    stateRequest.addEventListener('success', () => {
      const revision = stateOf(stateRequest).revision + 1;
      for (const area of LEDGER_AREAS) transaction.objectStore(area).clear();
      transaction.objectStore(LEDGER_STATE).put({ revision, wiped_at: revision }, STATE_KEY);
      finish({ revision });
    });
  });
}

async function measure() {
  const { usage = 0, quota = null } = await estimate();
  return { used_bytes: usage, quota_bytes: quota, is_persistent: await isPersistent() };
}

/** Whether the browser keeps the data when room gets short; only the page can ask for it. */
async function isPersistent() {
  return (await navigator.storage?.persisted?.()) ?? false;
}

/** @returns {Promise<StorageEstimate>} nothing where the browser tells nothing */
async function estimate() {
  return (await navigator.storage?.estimate?.()) ?? {};
}

/** @param {IDBTransaction} transaction */
function readState(transaction) {
  return transaction.objectStore(LEDGER_STATE).get(STATE_KEY);
}

/**
 * @param {IDBRequest<State | undefined>} request
 * @returns {State}
 */
function stateOf(request) {
  return request.result ?? { revision: 0, wiped_at: 0 };
}

/**
 * Runs one transaction; what it finished with is given when it is complete.
 * @template T
 * @param {readonly string[]} areas
 * @param {IDBTransactionMode} mode
 * @param {(transaction: IDBTransaction, finish: (value: T) => void) => void} work
 * @returns {Promise<T>}
 */
async function transact(areas, mode, work) {
  const database = await openDatabase();
  return new Promise((resolve, reject) => {
    const durability = mode === 'readwrite' ? 'strict' : 'default';
    const transaction = database.transaction([...areas, LEDGER_STATE], mode, { durability });
    /** @type {T | undefined} */
    let value;
    work(transaction, (finished) => {
      value = finished;
    });
    // Added after those of the work, so that the value is there.
    transaction.addEventListener('complete', () => resolve(/** @type {T} */ (value)));
    transaction.addEventListener('abort', () => reject(refused(transaction.error)));
  });
}

/**
 * Turns an answer, or what was thrown instead, into JSON.
 * @template {any[]} A
 * @param {(...asked: A) => Promise<object>} ask
 * @returns {(...asked: A) => Promise<string>}
 */
function answered(ask) {
  return async (...asked) => {
    try {
      return JSON.stringify(await ask(...asked));
    } catch (thrown) {
      return JSON.stringify(await explain(thrown));
    }
  };
}

/** @param {unknown} thrown */
async function explain(thrown) {
  const name = thrown instanceof DOMException ? thrown.name : coded(thrown).details?.name;
  const error = typeof name === 'string' ? name : 'UnknownError';
  if (error !== 'QuotaExceededError') return { error };
  const { usage = null, quota = null } = await estimate();
  return { error, used_bytes: usage, quota_bytes: quota };
}
