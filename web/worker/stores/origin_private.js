/**
 * Model files in the origin private file system.
 * Takes and gives bytes by sha256. `SHA.model` holds the bytes and `SHA.json` the record, written
 * last: a model without a record is a download under way, so a half-written one is never offered.
 * Files are locked only while they are written; any number of tabs may read. Verifies nothing.
 */

/** @typedef {import('../model_store.js').ModelRecord} ModelRecord */

const DIRECTORY_NAME = 'models';

/**
 * @returns {Promise<OriginPrivateStore>}
 * @throws when this browser or this window may not use it
 */
export async function openOriginPrivate() {
  const root = await navigator.storage.getDirectory();
  const directory = await root.getDirectoryHandle(DIRECTORY_NAME, { create: true });
  // Some private windows hand out the directory and refuse only the write: try one, once.
  if (await isEmpty(directory)) {
    const name = `probe-${crypto.randomUUID()}`;
    await write(directory, name, new Uint8Array([1]));
    await directory.removeEntry(name);
  }
  return new OriginPrivateStore(directory);
}

/** @param {FileSystemDirectoryHandle} directory */
async function isEmpty(directory) {
  for await (const _ of directory.keys()) return false;
  return true;
}

export class OriginPrivateStore {
  /** @type {'origin_private'} */
  kind = 'origin_private';
  #directory;

  /** @param {FileSystemDirectoryHandle} directory */
  constructor(directory) {
    this.#directory = directory;
  }

  /** @returns {Promise<ModelRecord[]>} */
  async list() {
    const records = [];
    for await (const name of this.#directory.keys()) {
      if (name.endsWith('.json')) records.push(await this.#record(name));
    }
    return records.filter((record) => record !== null);
  }

  /**
   * @param {string} sha256
   * @returns {Promise<ArrayBuffer | null>}
   */
  async read(sha256) {
    if ((await this.#record(`${sha256}.json`)) === null) return null;
    try {
      const handle = await this.#directory.getFileHandle(`${sha256}.model`);
      return await (await handle.getFile()).arrayBuffer();
    } catch {
      return null;
    }
  }

  /** @param {string} sha256 */
  async remove(sha256) {
    const had = await this.#delete(`${sha256}.json`);
    await this.#delete(`${sha256}.model`);
    return had;
  }

  /**
   * Goes on with what an earlier visit downloaded.
   * @param {string} sha256
   */
  async partial(sha256) {
    const handle = await this.#directory.getFileHandle(`${sha256}.model`, { create: true });
    return new OriginPrivatePartial(this.#directory, await handle.createSyncAccessHandle());
  }

  /**
   * @param {string} name
   * @returns {Promise<ModelRecord | null>}
   */
  async #record(name) {
    try {
      const file = await (await this.#directory.getFileHandle(name)).getFile();
      return JSON.parse(await file.text());
    } catch {
      return null; // Absent, or the tab died while writing it: either way no model.
    }
  }

  /** @param {string} name */
  async #delete(name) {
    try {
      await this.#directory.removeEntry(name);
      return true;
    } catch {
      return false;
    }
  }
}

class OriginPrivatePartial {
  #directory;
  #file;

  /**
   * @param {FileSystemDirectoryHandle} directory
   * @param {FileSystemSyncAccessHandle} file
   */
  constructor(directory, file) {
    this.#directory = directory;
    this.#file = file;
  }

  get length() {
    return this.#file.getSize();
  }

  /** @param {Uint8Array<ArrayBuffer>} chunk */
  append(chunk) {
    const written = this.#file.write(chunk, { at: this.length });
    if (written < chunk.byteLength) throw new DOMException('short write', 'QuotaExceededError');
  }

  clear() {
    this.#file.truncate(0);
  }

  async bytes() {
    const bytes = new Uint8Array(this.length);
    this.#file.read(bytes, { at: 0 });
    return bytes.buffer;
  }

  /** @param {ModelRecord} record */
  async commit(record) {
    this.#file.flush();
    const text = new TextEncoder().encode(JSON.stringify(record));
    await write(this.#directory, `${record.sha256}.json`, text);
  }

  close() {
    this.#file.close();
  }
}

/**
 * @param {FileSystemDirectoryHandle} directory
 * @param {string} name
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function write(directory, name, bytes) {
  const handle = await directory.getFileHandle(name, { create: true });
  const file = await handle.createSyncAccessHandle();
  try {
    file.truncate(0);
    file.write(bytes, { at: 0 });
    file.flush();
  } finally {
    file.close();
  }
}
