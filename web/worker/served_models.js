/**
 * What the local server offers, and its bytes.
 * Takes an abort signal, gives a list or a stream of chunks; every request has a deadline.
 * Does not keep or verify anything.
 */

import { CodedError } from '../app/coded_error.js';
import { siteUrl } from '../app/site_url.js';

// A dead server refuses at once; only a busy one takes long, and it is worth waiting for.
const LIST_DEADLINE_MS = 20_000;
const SILENCE_DEADLINE_MS = 20_000;

/** @typedef {{file: string, label: string, size: number, sha256: string, role?: 'chat' | 'embedder'}} ServedModel */

/**
 * @returns {Promise<readonly ServedModel[] | null>} null when the server cannot be reached
 */
export async function listServed() {
  try {
    const signal = AbortSignal.timeout(LIST_DEADLINE_MS);
    const response = await fetch(siteUrl('models/index.json'), { signal, cache: 'no-store' });
    return response.ok ? await response.json() : null;
  } catch {
    return null; // Being offline is a state of this page, not an error.
  }
}

/**
 * Streams a model file from a byte on.
 * @param {ServedModel} model
 * @param {{from: number, signal: AbortSignal}} options
 * @returns {Promise<{from: number, chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>}>} `from` is 0
 *   when the server does not continue files
 */
export async function streamServed(model, { from, signal }) {
  const silence = new AbortController();
  const both = AbortSignal.any([signal, silence.signal]);
  const timer = restartable(() => silence.abort(), SILENCE_DEADLINE_MS);
  const headers = from > 0 ? { Range: `bytes=${from}-` } : {};
  const address = siteUrl(`models/${encodeURIComponent(model.file)}`);
  const response = await fetch(address, { headers, signal: both });
  if (!response.ok || !response.body) {
    timer.stop();
    throw new CodedError(
      'download_refused',
      `The server answered ${response.status} for ${model.file}. Restart the server and load again.`,
    );
  }
  const start = response.status === 206 ? from : 0;
  return { from: start, chunks: chunksOf(response.body, timer) };
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {{start: () => void, stop: () => void}} timer
 */
async function* chunksOf(body, timer) {
  const reader = body.getReader();
  try {
    while (true) {
      timer.start();
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    timer.stop();
    reader.releaseLock();
  }
}

/**
 * @param {() => void} act
 * @param {number} delay_ms
 */
function restartable(act, delay_ms) {
  let id = setTimeout(act, delay_ms);
  const stop = () => clearTimeout(id);
  const start = () => {
    stop();
    id = setTimeout(act, delay_ms);
  };
  return { start, stop };
}
