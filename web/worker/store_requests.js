/**
 * Answers the requests about model files that need no Python.
 * Takes a kind, a payload and a way to report, gives the value of the reply. Opens only bytes whose
 * sha256 is known, and lets a chosen file be kept only after Python has accepted it.
 */

import { CodedError } from '../app/coded_error.js';
import { rememberModel, takeLastModel } from './last_model.js';
import { forgetPrefixesOf } from './saved_prefixes.js';
import { sha256 as digest } from './sha256.js';

/** @typedef {import('./model_store.js').Asked} Asked */
/** @typedef {import('./model_store.js').ModelStore} ModelStore */
/** @typedef {import('./model_bytes.js').ModelBytes} ModelBytes */
/** @typedef {import('../app/protocol.js').OpenedModel} OpenedModel */

const GGUF_MAGIC = 'GGUF';
const LARGEST_FILE_BYTES = 2 ** 31 - 1;

export class StoreRequests {
  #store;
  #bytes;
  /** @type {{sha256: string, label: string, bytes: ArrayBuffer} | null} */
  #chosen = null;

  /**
   * @param {ModelStore} store
   * @param {ModelBytes} bytes
   */
  constructor(store, bytes) {
    this.#store = store;
    this.#bytes = bytes;
  }

  /**
   * @param {string} kind
   * @param {any} payload
   * @param {Asked & {file: File | null}} asked
   * @returns {Promise<unknown>}
   */
  async answer(kind, payload, asked) {
    switch (kind) {
      case 'store.list':
        return this.#store.list();
      case 'store.open':
        return this.#open(payload.sha256, asked);
      case 'store.open_last':
        return this.#openLast(asked);
      case 'store.remember':
        await rememberModel(payload.model);
        return {};
      case 'store.import':
        return this.#import(payload.name, asked);
      case 'store.keep':
        return this.#keep(payload.sha256, asked);
      case 'store.remove':
        await forgetPrefixesOf(payload.sha256);
        return { was_stored: await this.#store.remove(payload.sha256) };
      default:
        throw new CodedError('unknown_kind', `The worker knows no request of kind ${kind}.`);
    }
  }

  /**
   * Keeps what Python made of the chosen file.
   * @param {string} sha256
   * @param {ArrayBuffer} bytes
   * @param {Asked['notice']} notice
   */
  async keepConverted(sha256, bytes, notice) {
    const label = `${this.#chosen?.label ?? 'model'} (converted)`;
    this.#chosen = null;
    await this.#store.keep({ sha256, label, file_bytes: bytes.byteLength }, bytes, notice);
  }

  /**
   * @param {string} sha256
   * @param {Asked} asked
   * @returns {Promise<OpenedModel>}
   */
  async #open(sha256, asked) {
    this.#chosen = null;
    const { record, bytes } = await this.#store.take(sha256, asked);
    return this.#opened(record.label, sha256, bytes);
  }

  /**
   * @param {Asked} asked
   * @returns {Promise<{opened: OpenedModel, last: import('./last_model.js').LastModel}>}
   */
  async #openLast(asked) {
    const last = await takeLastModel();
    const kept = last && (await this.#store.takeKept(last.sha256, asked));
    if (!kept) throw new CodedError('not_kept', 'No model of an earlier visit is kept here.');
    return { opened: this.#opened(last.label, last.sha256, kept.bytes), last };
  }

  /**
   * @param {string} name
   * @param {Asked & {file: File | null}} asked
   * @returns {Promise<OpenedModel>}
   */
  async #import(name, { file, progress }) {
    if (!file) throw new CodedError('no_file', 'No file came with the request. Choose it again.');
    if (file.size > LARGEST_FILE_BYTES) throw tooLarge(file);
    progress('verify', 0, file.size, `Reading ${name}`);
    const bytes = await file.arrayBuffer().catch(() => {
      throw new CodedError('file_unreadable', `${name} cannot be read. Choose it again.`);
    });
    const sha256 = await digest(bytes);
    const label = name.replace(/\.(slm|gguf)$/i, '');
    this.#chosen = { sha256, label, bytes };
    return this.#opened(label, sha256, bytes);
  }

  /**
   * @param {string} sha256
   * @param {Asked} asked
   */
  async #keep(sha256, asked) {
    const chosen = this.#chosen;
    if (chosen?.sha256 !== sha256) return { is_kept: false };
    this.#chosen = null;
    const record = { sha256, label: chosen.label, file_bytes: chosen.bytes.byteLength };
    await this.#store.keep(record, chosen.bytes, asked.notice);
    return { is_kept: true };
  }

  /**
   * @param {string} name
   * @param {string} sha256
   * @param {ArrayBuffer} bytes
   * @returns {OpenedModel}
   */
  #opened(name, sha256, bytes) {
    const magic = new TextDecoder('latin1').decode(bytes.slice(0, GGUF_MAGIC.length));
    return {
      handle: this.#bytes.open(bytes),
      name,
      sha256,
      file_bytes: bytes.byteLength,
      format: magic === GGUF_MAGIC ? 'gguf' : 'slm',
    };
  }
}

/** @param {File} file */
function tooLarge(file) {
  return new CodedError(
    'model_too_large',
    `${file.name} has ${file.size} bytes and a browser tab can hold ${LARGEST_FILE_BYTES}. Choose a smaller model.`,
    { needed: file.size, allowed: LARGEST_FILE_BYTES },
  );
}
