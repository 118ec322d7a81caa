/**
 * The members of a zip archive, such as a Python wheel.
 * Takes the bytes of one, gives names and contents; folders are left out. Reads stored and deflated
 * members of archives below 4 GB. Source: the .ZIP File Format Specification, 4.3.7, 4.3.12, 4.3.16.
 */

const END = { mark: 0x06054b50, bytes: 22, count: 10, directory: 16 };
const ENTRY = { bytes: 46, method: 10, packed: 20, name: 28, extra: 30, comment: 32, offset: 42 };
const LOCAL = { bytes: 30, name: 26, extra: 28 };
const STORED = 0;

/** @typedef {{name: string, content: Uint8Array<ArrayBuffer>}} Member */

/**
 * @param {ArrayBuffer} archive
 * @returns {Promise<Member[]>}
 */
export async function unzip(archive) {
  const view = new DataView(archive);
  let end = archive.byteLength - END.bytes;
  while (end >= 0 && view.getUint32(end, true) !== END.mark) end -= 1;
  if (end < 0) throw new Error('no zip archive: it has no directory');
  const count = view.getUint16(end + END.count, true);
  let at = view.getUint32(end + END.directory, true);
  const members = [];
  for (let number = 0; number < count; number += 1) {
    const length = (/** @type {number} */ field) => view.getUint16(at + field, true);
    const nameEnd = at + ENTRY.bytes + length(ENTRY.name);
    const name = new TextDecoder().decode(new Uint8Array(archive).slice(at + ENTRY.bytes, nameEnd));
    if (!name.endsWith('/')) members.push(readMember(view, at, name));
    at = nameEnd + length(ENTRY.extra) + length(ENTRY.comment);
  }
  return Promise.all(members);
}

/**
 * @param {DataView<ArrayBuffer>} view
 * @param {number} entry
 * @param {string} name
 * @returns {Promise<Member>}
 */
async function readMember(view, entry, name) {
  const local = view.getUint32(entry + ENTRY.offset, true);
  const before =
    view.getUint16(local + LOCAL.name, true) + view.getUint16(local + LOCAL.extra, true);
  const packedBytes = view.getUint32(entry + ENTRY.packed, true);
  const packed = new Uint8Array(view.buffer, local + LOCAL.bytes + before, packedBytes);
  if (view.getUint16(entry + ENTRY.method, true) === STORED) return { name, content: packed };
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return { name, content: new Uint8Array(await new Response(stream).arrayBuffer()) };
}
