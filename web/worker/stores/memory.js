/**
 * Model files in this tab's memory, for browsers that refuse to keep anything.
 * Takes and gives bytes by sha256; everything is gone when the tab closes.
 */

/** @typedef {import('../model_store.js').ModelRecord} ModelRecord */

export class MemoryStore {
  /** @type {'memory'} */
  kind = 'memory';
  /** @type {Map<string, {record: ModelRecord, bytes: ArrayBuffer}>} */
  #models = new Map();

  /** @returns {Promise<ModelRecord[]>} */
  async list() {
    return [...this.#models.values()].map((model) => model.record);
  }

  /** @param {string} sha256 */
  async read(sha256) {
    return this.#models.get(sha256)?.bytes ?? null;
  }

  /** @param {string} sha256 */
  async remove(sha256) {
    return this.#models.delete(sha256);
  }

  /** @param {string} _sha256 */
  async partial(_sha256) {
    return new MemoryPartial(async (record, bytes) => {
      this.#models.set(record.sha256, { record, bytes });
    });
  }
}

/** A download collected in memory and handed over whole. */
export class MemoryPartial {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #chunks = [];
  #keep;
  length = 0;

  /** @param {(record: ModelRecord, bytes: ArrayBuffer) => Promise<void>} keep */
  constructor(keep) {
    this.#keep = keep;
  }

  /** @param {Uint8Array<ArrayBuffer>} chunk */
  append(chunk) {
    this.#chunks.push(chunk);
    this.length += chunk.byteLength;
  }

  clear() {
    this.#chunks = [];
    this.length = 0;
  }

  async bytes() {
    if (
      this.#chunks.length === 1 &&
      this.#chunks[0]?.byteLength === this.#chunks[0]?.buffer.byteLength
    ) {
      return /** @type {ArrayBuffer} */ (this.#chunks[0]?.buffer);
    }
    return new Blob(this.#chunks).arrayBuffer();
  }

  /** @param {ModelRecord} record */
  async commit(record) {
    await this.#keep(record, await this.bytes());
  }

  close() {
    this.clear();
  }
}
