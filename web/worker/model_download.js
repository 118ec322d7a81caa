/**
 * Downloads one model with progress, goes on where an earlier attempt broke off, and keeps it only
 * when its sha256 is right.
 * Takes what the server offers and a storage, gives verified bytes; knows nothing of Python.
 */

import { CodedError } from '../app/coded_error.js';
import { streamServed } from './served_models.js';
import { sha256 as digest } from './sha256.js';

/** @typedef {import('./model_store.js').Storage} Storage */
/** @typedef {import('./model_store.js').PartialModel} PartialModel */
/** @typedef {import('./model_store.js').ModelRecord} ModelRecord */
/** @typedef {import('./model_store.js').Asked} Asked */
/** @typedef {import('./served_models.js').ServedModel} ServedModel */

const ATTEMPTS = 3;
const RETRY_DELAY_MS = 400;
const PROGRESS_STEP_MS = 100;

/**
 * @param {ServedModel} model
 * @param {ModelRecord} record
 * @param {Storage} storage
 * @param {Asked} asked
 * @returns {Promise<ArrayBuffer>}
 */
export async function download(model, record, storage, asked) {
  const partial = await storage.partial(record.sha256);
  try {
    await fillWithRetries(model, partial, asked);
    asked.progress('verify', 0, model.size, `Verifying ${model.label}`);
    const bytes = await partial.bytes();
    const found = await digest(bytes);
    if (found !== record.sha256) {
      partial.clear();
      throw new CodedError(
        'download_damaged',
        `${model.file} arrived damaged (sha256 ${found.slice(0, 12)} instead of ${record.sha256.slice(0, 12)}). Load it again.`,
      );
    }
    await partial.commit(record);
    return bytes;
  } finally {
    partial.close();
  }
}

/**
 * @param {ServedModel} model
 * @param {PartialModel} partial
 * @param {Asked} asked
 */
async function fillWithRetries(model, partial, asked) {
  for (let attempt = 1; partial.length !== model.size; attempt += 1) {
    try {
      await fill(model, partial, asked);
    } catch (cause) {
      if (asked.signal.aborted) throw cancelled(model);
      if (cause instanceof CodedError) throw cause;
      if (cause instanceof DOMException && cause.name !== 'AbortError') throw cause; // storage
      if (attempt === ATTEMPTS) throw brokenOff(model, partial.length);
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS * attempt));
    }
    if (attempt > ATTEMPTS) throw brokenOff(model, partial.length);
  }
}

/**
 * @param {ServedModel} model
 * @param {PartialModel} partial
 * @param {Asked} asked
 */
async function fill(model, partial, asked) {
  if (partial.length > model.size) partial.clear();
  const stream = await streamServed(model, { from: partial.length, signal: asked.signal });
  if (stream.from === 0) partial.clear();
  let next_report_ms = 0;
  for await (const chunk of stream.chunks) {
    partial.append(chunk);
    if (performance.now() < next_report_ms) continue;
    next_report_ms = performance.now() + PROGRESS_STEP_MS;
    asked.progress('download', partial.length, model.size, `Downloading ${model.label}`);
  }
}

/** @param {ServedModel} model */
function cancelled(model) {
  return new CodedError(
    'cancelled',
    `The download of ${model.label} was stopped. Load it again to go on from there.`,
  );
}

/**
 * @param {ServedModel} model
 * @param {number} done_bytes
 */
function brokenOff(model, done_bytes) {
  return new CodedError(
    'download_broken_off',
    `The download of ${model.label} broke off at ${done_bytes} of ${model.size} bytes. Load it again to go on from there.`,
    { done_bytes, total_bytes: model.size },
  );
}
