/**
 * Reads a kept model and computes its sha256, while the other worker is busy with starting Python.
 * Takes the kind of store and the sha256 that is looked for; gives the bytes with the sha256 that they
 * have, or none.
 */

import { sha256 as digest } from './sha256.js';
import { openCacheStore } from './stores/cache_storage.js';
import { openOriginPrivate } from './stores/origin_private.js';

/** @typedef {{kind: 'origin_private' | 'cache', sha256: string}} ReadOrder */
/** @typedef {{bytes: ArrayBuffer, sha256: string} | null} ReadBytes */

self.onmessage = async (/** @type {MessageEvent<ReadOrder>} */ { data }) => {
  const store = await (data.kind === 'cache' ? openCacheStore() : openOriginPrivate());
  const bytes = await store.read(data.sha256);
  if (bytes) self.postMessage({ bytes, sha256: await digest(bytes) }, { transfer: [bytes] });
  else self.postMessage(null);
};
