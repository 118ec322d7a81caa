/**
 * Where the image of the started Python is kept in this browser.
 * Takes and gives a record with the bytes that belong to it, by the version of the page. The record
 * is written last and states the sha256 of the bytes, so a half-written or damaged image is never
 * used. Does not know what is in an image.
 */

import { sha256 } from './sha256.js';

const DIRECTORY_NAME = 'start-images';
const FORMAT = 'tinyloom-image/1';

/** @typedef {{address: number, length: number}} Run */
/** @typedef {{path: string, offset: number, length: number}} Part bytes of code or state, and whose */

/**
 * What is known of the memory of a started Python.
 * @typedef {object} Content
 * @property {number} heap_bytes
 * @property {number} table_length
 * @property {Part} header Pyodide's own part of a snapshot
 * @property {{offset: number, length: number, runs: readonly Run[]}} memory
 * @property {readonly Part[]} libraries
 * @property {readonly import('./library_places.js').Place[]} places
 * @property {readonly {handle: number, path: string}[]} opened
 * @property {readonly Part[]} files
 * @property {string} rehearsal what Python answers when it is asked to prove itself
 */

/**
 * The libraries come first and alone, because they take a while to be compiled and placed.
 * @typedef {object} Image
 * @property {Content} content
 * @property {Promise<ArrayBuffer>} code the libraries, and Pyodide's own part of a snapshot
 * @property {Promise<ArrayBuffer>} state everything else
 * @property {Promise<unknown>} verified
 */

/**
 * @typedef {{format: string, browser: string, code: string, state: string, content: Content | null}} KeptRecord
 *   with the sha256 of both; without content: no image can be made here, so none is tried again
 */

/**
 * Reads what is kept while the version is still being asked for; it is used for that version only.
 * @param {Promise<string>} version
 * @returns {Promise<Image | 'none' | 'refused'>}
 */
export async function readImage(version) {
  try {
    const directory = await openDirectory(false);
    const kept = await findVersion(directory);
    const record = kept === null ? null : await readRecord(directory, kept);
    if (record === null || !isOurs(record)) return 'none';
    if (!record.content) return (await version) === kept ? 'refused' : 'none';
    const code = readWhole(directory, `${kept}.code`);
    const state = readWhole(directory, `${kept}.state`);
    const verified = Promise.all([verify(code, record.code), verify(state, record.state)]);
    verified.catch(() => {}); // Said by whoever waits for it.
    const { content } = record;
    return (await version) === kept ? { content, code, state, verified } : 'none';
  } catch {
    return 'none'; // Nothing kept, or storage is refused: Python starts without it.
  }
}

/**
 * @param {string} version
 * @returns {Promise<boolean>} whether this browser keeps an image of this version
 */
export async function hasImage(version) {
  try {
    const record = await readRecord(await openDirectory(false), version);
    return record?.content != null && isOurs(record);
  } catch {
    return false;
  }
}

/**
 * Keeps an image and lets go of those of other versions.
 * @param {string} version
 * @param {{content: Content, code: ArrayBuffer, state: ArrayBuffer}} image
 */
export async function keepImage(version, { content, code, state }) {
  const directory = await openDirectory(true);
  await removeAll(directory);
  await write(directory, `${version}.code`, new Uint8Array(code));
  await write(directory, `${version}.state`, new Uint8Array(state));
  const hashes = { code: await sha256(code), state: await sha256(state) };
  await writeRecord(directory, version, { content, ...hashes });
}

/** Lets go of an image that has not worked. */
export async function forgetImage() {
  try {
    await removeAll(await openDirectory(false));
  } catch {
    // Another tab is reading it; it finds the same fault.
  }
}

/**
 * Remembers that this version has no image in this browser.
 * @param {string} version
 */
export async function refuseImage(version) {
  try {
    const directory = await openDirectory(true);
    await removeAll(directory);
    await writeRecord(directory, version, { content: null, code: '', state: '' });
  } catch {
    // Storage is refused, too: the next visit finds nothing, as this one did.
  }
}

/** @param {KeptRecord} record */
function isOurs({ browser, format }) {
  return browser === navigator.userAgent && format === FORMAT;
}

/** @param {boolean} create */
async function openDirectory(create) {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(DIRECTORY_NAME, { create });
}

/**
 * @param {FileSystemDirectoryHandle} directory
 * @returns {Promise<string | null>} the version that there is something of
 */
async function findVersion(directory) {
  for await (const name of directory.keys())
    if (name.endsWith('.json')) return name.slice(0, -'.json'.length);
  return null;
}

/** @param {FileSystemDirectoryHandle} directory */
async function removeAll(directory) {
  const names = [];
  for await (const name of directory.keys()) names.push(name);
  // Records first: bytes without a record are no image.
  names.sort((one, other) => Number(other.endsWith('.json')) - Number(one.endsWith('.json')));
  for (const name of names) await directory.removeEntry(name);
}

/**
 * @param {FileSystemDirectoryHandle} directory
 * @param {string} version
 * @returns {Promise<KeptRecord | null>}
 */
async function readRecord(directory, version) {
  try {
    const handle = await directory.getFileHandle(`${version}.json`);
    return JSON.parse(await (await handle.getFile()).text());
  } catch {
    return null;
  }
}

/**
 * @param {FileSystemDirectoryHandle} directory
 * @param {string} version
 * @param {{content: Content | null, code: string, state: string}} known
 */
async function writeRecord(directory, version, known) {
  /** @type {KeptRecord} */
  const record = { format: FORMAT, browser: navigator.userAgent, ...known };
  await write(directory, `${version}.json`, new TextEncoder().encode(JSON.stringify(record)));
}

/**
 * @param {FileSystemDirectoryHandle} directory
 * @param {string} name
 * @returns {Promise<ArrayBuffer>}
 */
async function readWhole(directory, name) {
  return (await (await directory.getFileHandle(name)).getFile()).arrayBuffer();
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
    if (file.write(bytes, { at: 0 }) !== bytes.byteLength) throw new Error('the disk is full');
    file.flush();
  } finally {
    file.close();
  }
}

/**
 * @param {Promise<ArrayBuffer>} bytes
 * @param {string} expected
 */
async function verify(bytes, expected) {
  const found = await sha256(await bytes);
  if (found !== expected) throw new Error(`the image has sha256 ${found}, not ${expected}`);
}
