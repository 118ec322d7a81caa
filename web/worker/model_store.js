/**
 * The models of this browser: kept, listed, downloaded, verified, removed.
 * Takes a sha256, gives bytes that have it. Chooses the best storage that the browser allows and
 * falls back to memory with a notice. Does not know what is inside a model file.
 */

import { CodedError } from '../app/coded_error.js';
import { download } from './model_download.js';
import { readAside } from './read_aside.js';
import { listServed } from './served_models.js';
import { openCacheStore } from './stores/cache_storage.js';
import { MemoryStore } from './stores/memory.js';
import { openOriginPrivate } from './stores/origin_private.js';

/**
 * A record of an older version has no role and is a chat model.
 * @typedef {{sha256: string, label: string, file_bytes: number, role?: 'chat' | 'embedder' | undefined}} ModelRecord
 */

/**
 * @typedef {object} PartialModel
 * @property {number} length
 * @property {(chunk: Uint8Array<ArrayBuffer>) => void} append
 * @property {() => void} clear
 * @property {() => Promise<ArrayBuffer>} bytes
 * @property {(record: ModelRecord) => Promise<void>} commit
 * @property {() => void} close
 */

/**
 * @typedef {object} Storage
 * @property {'origin_private' | 'cache' | 'memory'} kind
 * @property {() => Promise<ModelRecord[]>} list
 * @property {(sha256: string) => Promise<ArrayBuffer | null>} read
 * @property {(sha256: string) => Promise<boolean>} remove
 * @property {(sha256: string) => Promise<PartialModel>} partial
 */

/**
 * @typedef {object} Asked
 * @property {AbortSignal} signal
 * @property {(step: string, done: number, total: number, text: string) => void} progress
 * @property {(code: string, text: string) => void} notice
 */

export class ModelStore {
  #memory = new MemoryStore();
  /** @type {Promise<Storage> | null} */
  #opening = null;

  /** @returns {Promise<import('../app/store_protocol.js').Shelf>} */
  async list() {
    const storage = await this.#storage();
    const [kept, served] = await Promise.all([this.#records(), listServed()]);
    /** @type {Map<string, import('../app/store_protocol.js').ShelfEntry & {role?: string | undefined}>} */
    const entries = new Map();
    for (const { sha256, label, size, role } of served ?? []) {
      const entry = { sha256, label, file_bytes: size, is_stored: false, is_served: true, role };
      entries.set(sha256, entry);
    }
    for (const record of kept) {
      const served_entry = entries.get(record.sha256);
      const label = served_entry?.label ?? record.label;
      const is_served = served_entry !== undefined;
      entries.set(record.sha256, { ...record, label, is_stored: true, is_served });
    }
    const is_embedder = (/** @type {{role?: string | undefined}} */ { role }) =>
      role === 'embedder';
    const all = [...entries.values()];
    return {
      storage: storage.kind,
      is_server_reached: served !== null,
      models: all.filter((entry) => !is_embedder(entry)),
      embedders: all.filter(is_embedder),
    };
  }

  /**
   * Gives the verified bytes of a model: the kept ones, or else those of the server.
   * @param {string} sha256
   * @param {Asked} asked
   * @returns {Promise<{record: ModelRecord, bytes: ArrayBuffer}>}
   */
  async take(sha256, asked) {
    const kept = await this.takeKept(sha256, asked);
    if (kept) return kept;
    // Two tabs that want the same model: the second waits here and then finds it kept.
    return navigator.locks.request(`tinyloom-model-${sha256}`, async () => {
      const other = await this.takeKept(sha256, asked);
      return other ?? this.#fetch(sha256, asked);
    });
  }

  /**
   * Keeps bytes whose sha256 the caller has computed.
   * @param {ModelRecord} record
   * @param {ArrayBuffer} bytes
   * @param {Asked['notice']} notice
   */
  async keep(record, bytes, notice) {
    const storage = await this.#storage();
    await navigator.locks.request(`tinyloom-model-${record.sha256}`, async () => {
      if (storage.kind === 'memory') this.#sayRefused(notice);
      await keepIn(storage, record, bytes).catch(async (cause) => {
        this.#sayRefused(notice, cause);
        await keepIn(this.#memory, record, bytes);
      });
    });
  }

  /** @param {string} sha256 */
  async remove(sha256) {
    const outcomes = await Promise.all([
      (await this.#storage()).remove(sha256),
      this.#memory.remove(sha256),
    ]);
    return outcomes.includes(true);
  }

  /**
   * Gives the verified bytes of a model that is kept here, or null; asks no server.
   * @param {string} sha256
   * @param {Asked} asked
   */
  async takeKept(sha256, asked) {
    const record = (await this.#records()).find((kept) => kept.sha256 === sha256);
    if (!record) return null;
    asked.progress('verify', 0, record.file_bytes, `Reading ${record.label}`);
    const inMemory = (await this.#memory.read(sha256)) !== null;
    const found = await readAside(inMemory ? this.#memory : await this.#storage(), sha256);
    if (found?.sha256 === sha256) {
      asked.progress('verify', record.file_bytes, record.file_bytes, `Verified ${record.label}`);
      return { record, bytes: found.bytes };
    }
    await this.remove(sha256);
    asked.notice('stored_model_broken', `The stored ${record.label} was damaged and was removed.`);
    return null;
  }

  /**
   * @param {string} sha256
   * @param {Asked} asked
   */
  async #fetch(sha256, asked) {
    const served = await listServed();
    const model = served?.find((offered) => offered.sha256 === sha256);
    if (!model) throw notOffered(served !== null);
    const record = { sha256, label: model.label, file_bytes: model.size, role: model.role };
    const storage = await this.#storage();
    if (storage.kind === 'memory') this.#sayRefused(asked.notice);
    try {
      return { record, bytes: await download(model, record, storage, asked) };
    } catch (cause) {
      if (cause instanceof CodedError || asked.signal.aborted) throw cause;
      this.#sayRefused(asked.notice, cause);
      await storage.remove(sha256);
      return { record, bytes: await download(model, record, this.#memory, asked) };
    }
  }

  /** @returns {Promise<ModelRecord[]>} */
  async #records() {
    const storage = await this.#storage();
    const kept = storage === this.#memory ? [] : await storage.list();
    return [...kept, ...(await this.#memory.list())];
  }

  #storage() {
    this.#opening ??= openOriginPrivate()
      .catch(openCacheStore)
      .catch(() => this.#memory);
    return this.#opening;
  }

  /**
   * @param {Asked['notice']} notice
   * @param {unknown} [cause]
   */
  #sayRefused(notice, cause) {
    if (cause instanceof DOMException && cause.name === 'QuotaExceededError') {
      notice(
        'storage_full',
        'The browser’s storage is full; the model stays until the tab closes. Remove a stored model to keep it.',
      );
    } else {
      notice(
        'storage_refused',
        'This browser refuses storage; the model stays until the tab closes.',
      );
    }
  }
}

/**
 * @param {Storage} storage
 * @param {ModelRecord} record
 * @param {ArrayBuffer} bytes
 */
async function keepIn(storage, record, bytes) {
  const partial = await storage.partial(record.sha256);
  try {
    partial.clear();
    partial.append(new Uint8Array(bytes));
    await partial.commit(record);
  } finally {
    partial.close();
  }
}

/** @param {boolean} is_server_reached */
function notOffered(is_server_reached) {
  return is_server_reached
    ? new CodedError(
        'model_not_offered',
        'The server no longer offers this model. Choose another one.',
      )
    : new CodedError(
        'offline',
        'This model is not stored in this browser and the server cannot be reached. Start the server, or choose a stored model.',
      );
}
