/**
 * Has a kept model read and hashed by another worker.
 * Takes where it is kept and its sha256; gives bytes and the sha256 that they have, or null. Where no
 * such worker can be had, this one does it. Does not compare.
 */

import { siteUrl } from '../app/site_url.js';
import { sha256 as digest } from './sha256.js';

/** @typedef {import('./reading_worker.js').ReadBytes} ReadBytes */

/**
 * @param {import('./model_store.js').Storage} storage
 * @param {string} sha256
 * @returns {Promise<ReadBytes>}
 */
export async function readAside(storage, sha256) {
  if (storage.kind === 'memory') return readHere(storage, sha256);
  try {
    return await ask({ kind: storage.kind, sha256 });
  } catch {
    return readHere(storage, sha256);
  }
}

/**
 * @param {import('./reading_worker.js').ReadOrder} order
 * @returns {Promise<ReadBytes>}
 */
async function ask(order) {
  const worker = new Worker(siteUrl('worker/reading_worker.js'), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      worker.postMessage(order);
    });
  } finally {
    worker.terminate();
  }
}

/**
 * @param {import('./model_store.js').Storage} storage
 * @param {string} sha256
 * @returns {Promise<ReadBytes>}
 */
async function readHere(storage, sha256) {
  const bytes = await storage.read(sha256);
  return bytes && { bytes, sha256: await digest(bytes) };
}
