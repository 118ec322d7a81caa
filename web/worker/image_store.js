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
/** @typedef {{path: string, offset: number, length: number}} Part bytes of the image, and whose */

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

/** @typedef {{content: Content, bytes: ArrayBuffer, verified: Promise<void>}} Image */

/**
 * @typedef {{format: string, browser: string, sha256: string, content: Content | null}} KeptRecord
 *   without content: no image can be made here, so none is tried again
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
    if (record?.browser !== navigator.userAgent || record.format !== FORMAT) return 'none';
    if (!record.content) return (await version) === kept ? 'refused' : 'none';
    const bytes = await readWhole(await directory.getFileHandle(`${kept}.image`));
    const verified = verify(bytes, record.sha256);
    verified.catch(() => {}); // Said by whoever waits for it.
    return (await version) === kept ? { content: record.content, bytes, verified } : 'none';
  } catch {
    return 'none'; // Nothing kept, or storage is refused: Python starts without it.
  }
}

/**
 * Keeps an image and lets go of those of other versions.
 * @param {string} version
 * @param {Content} content
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
export async function keepImage(version, content, bytes) {
  const directory = await openDirectory(true);
  await removeAll(directory);
  await write(directory, `${version}.image`, bytes);
  await writeRecord(directory, version, { content, sha256: await sha256(bytes) });
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
    await writeRecord(directory, version, { content: null, sha256: '' });
  } catch {
    // Storage is refused, too: the next visit finds nothing, as this one did.
  }
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
 * @param {{content: Content | null, sha256: string}} known
 */
async function writeRecord(directory, version, known) {
  /** @type {KeptRecord} */
  const record = { format: FORMAT, browser: navigator.userAgent, ...known };
  await write(directory, `${version}.json`, new TextEncoder().encode(JSON.stringify(record)));
}

/**
 * @param {FileSystemFileHandle} handle
 * @returns {Promise<ArrayBuffer>}
 */
async function readWhole(handle) {
  return (await handle.getFile()).arrayBuffer();
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
 * @param {ArrayBuffer} bytes
 * @param {string} expected
 */
async function verify(bytes, expected) {
  const found = await sha256(bytes);
  if (found !== expected) throw new Error(`the image has sha256 ${found}, not ${expected}`);
}
