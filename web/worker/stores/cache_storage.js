/**
 * Model files in Cache Storage, where the origin private file system is refused.
 * Takes and gives bytes by sha256. One entry holds bytes and record, so a write is whole or absent;
 * a download that breaks off starts again. Verifies nothing.
 */

import { MemoryPartial } from './memory.js';

/** @typedef {import('../model_store.js').ModelRecord} ModelRecord */

const CACHE_NAME = 'tinyloom-models';
const RECORD_HEADER = 'x-tinyloom-record';

/**
 * @returns {Promise<CacheStore>}
 * @throws when this browser or this window may not use it
 */
export async function openCacheStore() {
  const cache = await caches.open(CACHE_NAME);
  await cache.put(path('probe'), new Response(''));
  await cache.delete(path('probe'));
  return new CacheStore(cache);
}

export class CacheStore {
  /** @type {'cache'} */
  kind = 'cache';
  #cache;

  /** @param {Cache} cache */
  constructor(cache) {
    this.#cache = cache;
  }

  /** @returns {Promise<ModelRecord[]>} */
  async list() {
    const requests = await this.#cache.keys();
    const responses = await Promise.all(requests.map((request) => this.#cache.match(request)));
    return responses
      .map((response) => response?.headers.get(RECORD_HEADER))
      .filter((text) => typeof text === 'string')
      .map((text) => JSON.parse(decodeURIComponent(text)));
  }

  /** @param {string} sha256 */
  async read(sha256) {
    return (await (await this.#cache.match(path(sha256)))?.arrayBuffer()) ?? null;
  }

  /** @param {string} sha256 */
  async remove(sha256) {
    return this.#cache.delete(path(sha256));
  }

  /** @param {string} _sha256 */
  async partial(_sha256) {
    return new MemoryPartial(async (record, bytes) => {
      const headers = { [RECORD_HEADER]: encodeURIComponent(JSON.stringify(record)) };
      await this.#cache.put(path(record.sha256), new Response(bytes, { headers }));
    });
  }
}

/** @param {string} name */
function path(name) {
  return `/kept-models/${name}`;
}
