/**
 * A memory without its empty pages.
 * Takes bytes, gives the runs of pages that hold something, and lays runs out again.
 */

const PAGE_BYTES = 65536;

/** @typedef {{address: number, length: number}} Run */

/**
 * @param {Uint8Array<ArrayBuffer>} memory a whole number of pages
 * @returns {Run[]}
 */
export function findRuns(memory) {
  /** @type {Run[]} */
  const runs = [];
  for (let address = 0; address < memory.length; address += PAGE_BYTES) {
    if (isEmpty(memory, address)) continue;
    const last = runs.at(-1);
    if (last && last.address + last.length === address) last.length += PAGE_BYTES;
    else runs.push({ address, length: PAGE_BYTES });
  }
  return runs;
}

/**
 * Makes `memory` hold exactly the runs, whose bytes follow one another in `packed`.
 * @param {Uint8Array<ArrayBuffer>} memory
 * @param {{runs: readonly Run[], packed: Uint8Array<ArrayBuffer>, dirtyBytes: number}} content
 *   beyond its first `dirtyBytes` the memory is empty as yet
 */
export function layOut(memory, { runs, packed, dirtyBytes }) {
  let [from, filled] = [0, 0];
  for (const { address, length } of runs) {
    memory.fill(0, filled, Math.max(filled, Math.min(address, dirtyBytes)));
    memory.set(packed.subarray(from, from + length), address);
    from += length;
    filled = address + length;
  }
  memory.fill(0, filled, Math.max(filled, dirtyBytes));
}

/**
 * @param {Uint8Array<ArrayBuffer>} memory
 * @param {number} address
 */
function isEmpty(memory, address) {
  const words = new Uint32Array(memory.buffer, memory.byteOffset + address, PAGE_BYTES / 4);
  return words.every((word) => word === 0);
}
