/**
 * The model files that are open for Python, by handle.
 * Takes verified bytes, copies ranges of them into Python's memory, and collects what Python
 * writes back when it converts a file. Keeps no Python proxy beyond a call; does not store anything.
 */

import { CodedError } from '../app/coded_error.js';

/** @typedef {{getBuffer: (type: 'u8') => {data: Uint8Array<ArrayBuffer>, release: () => void}}} PythonBuffer */

export class ModelBytes {
  /** @type {Map<string, Uint8Array<ArrayBuffer>>} */
  #open = new Map();
  /** @type {Map<string, Uint8Array<ArrayBuffer>[]>} */
  #written = new Map();
  #count = 0;

  /**
   * @param {ArrayBuffer} bytes
   * @returns {string} the handle
   */
  open(bytes) {
    this.#count += 1;
    const handle = `model-${this.#count}`;
    this.#open.set(handle, new Uint8Array(bytes));
    return handle;
  }

  /** @param {string} handle */
  size(handle) {
    return this.#bytes(handle).byteLength;
  }

  /**
   * Copies as many bytes as the target holds.
   * @param {string} handle
   * @param {number} offset
   * @param {PythonBuffer} target
   */
  read(handle, offset, target) {
    const bytes = this.#bytes(handle);
    const view = target.getBuffer('u8');
    try {
      const end = offset + view.data.byteLength;
      if (offset < 0 || end > bytes.byteLength) {
        throw new CodedError(
          'model_read_range',
          `The model file ends at byte ${bytes.byteLength}; bytes ${offset} to ${end} were asked for.`,
        );
      }
      view.data.set(bytes.subarray(offset, end));
    } finally {
      view.release();
    }
  }

  /**
   * Appends a copy of the buffer to the new file that is made from the file `handle`.
   * @param {string} handle
   * @param {PythonBuffer} source
   */
  write(handle, source) {
    const view = source.getBuffer('u8');
    try {
      const parts = this.#written.get(handle) ?? [];
      parts.push(view.data.slice());
      this.#written.set(handle, parts);
    } finally {
      view.release();
    }
  }

  /**
   * Ends the writing and gives all that was written.
   * @param {string} handle
   * @returns {Promise<ArrayBuffer>}
   */
  async takeWritten(handle) {
    const parts = this.#written.get(handle) ?? [];
    this.#written.delete(handle);
    return new Blob(parts).arrayBuffer();
  }

  /** @param {string} handle */
  close(handle) {
    this.#open.delete(handle);
    this.#written.delete(handle);
  }

  /** @param {string} handle */
  #bytes(handle) {
    const bytes = this.#open.get(handle);
    if (!bytes) throw new CodedError('model_handle', `No model file is open as ${handle}.`);
    return bytes;
  }
}
