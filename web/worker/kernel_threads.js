/**
 * Homes for the kernel module: Python's own memory, or a memory that several threads share.
 * Takes the module's bytes and Python's WebAssembly memory, gives the functions that Python calls.
 * Starts and ends threads when it is told to; does not know models and decides nothing.
 */

import { siteUrl } from '../app/site_url.js';

/** @typedef {import('./model_bytes.js').PythonBuffer} PythonBuffer */
/** @typedef {Record<string, any>} Exports */

const FIRST_PAGES = 64;
/** A module names 65535 pages as the most; a device may refuse to set so much apart. */
const MOST_PAGES = Object.freeze([65535, 32768, 16384]);

/** @type {Set<KernelMemory>} */
const openMemories = new Set();

/** @returns {number} the bytes of all shared memories in use */
export function countSharedBytes() {
  return [...openMemories].reduce((sum, memory) => sum + memory.byte_length(), 0);
}

/**
 * The module's functions on Python's memory; undefined where that memory cannot be had.
 * @param {PythonBuffer} module
 * @param {unknown} memory
 * @returns {Exports | undefined}
 */
export function openOnPythonMemory(module, memory) {
  if (!(memory instanceof WebAssembly.Memory)) return undefined;
  try {
    return instantiate(compile(module), memory);
  } catch {
    return undefined; // Python then runs on numpy, and says so.
  }
}

/**
 * A shared memory with the module on it; undefined without cross-origin isolation or a second core.
 * @param {PythonBuffer} module
 * @param {() => Uint8Array} pythonHeap
 * @returns {KernelMemory | undefined}
 */
export function openOnSharedMemory(module, pythonHeap) {
  // WebKit on Linux calls a page isolated and has no shared memory all the same.
  const mayShare = self.crossOriginIsolated && typeof SharedArrayBuffer === 'function';
  if (!mayShare || navigator.hardwareConcurrency < 2) return undefined;
  const memory = makeSharedMemory();
  try {
    return memory && new KernelMemory(compile(module), memory, pythonHeap);
  } catch {
    return undefined; // The module on Python's own memory is the next one to be tried.
  }
}

/** One shared memory and the threads on it. */
class KernelMemory {
  #module;
  #memory;
  #pythonHeap;
  /** @type {Worker[]} */
  #threads = [];

  /**
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Memory} memory
   * @param {() => Uint8Array} pythonHeap
   */
  constructor(module, memory, pythonHeap) {
    this.#module = module;
    this.#memory = memory;
    this.#pythonHeap = pythonHeap;
    this.exports = instantiate(module, memory);
    openMemories.add(this);
    this.seats = navigator.hardwareConcurrency;
  }

  byte_length() {
    return this.#memory.buffer.byteLength;
  }

  /** @param {number} pages */
  grow(pages) {
    try {
      this.#memory.grow(pages);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * @param {number} address
   * @param {number} size
   */
  clear(address, size) {
    this.#bytes(address, size).fill(0);
  }

  /**
   * @param {number} address
   * @param {number} pythonAddress
   * @param {number} size
   */
  copy_in(address, pythonAddress, size) {
    const source = this.#pythonHeap().subarray(pythonAddress, pythonAddress + size);
    this.#bytes(address, size).set(source);
  }

  /**
   * @param {number} address
   * @param {number} pythonAddress
   * @param {number} size
   */
  copy_out(address, pythonAddress, size) {
    this.#pythonHeap().set(this.#bytes(address, size), pythonAddress);
  }

  /** @param {number} address */
  load_word(address) {
    return Atomics.load(new Int32Array(this.#memory.buffer, address, 1), 0);
  }

  /**
   * @param {number} team
   * @param {number} stacks
   * @param {number} stackBytes
   * @param {number} count
   */
  start_seats(team, stacks, stackBytes, count) {
    for (let seat = 1; seat < count; seat += 1) {
      const thread = new Worker(siteUrl('worker/kernel_worker.js'), { type: 'module' });
      const stackEnd = stacks + (seat + 1) * stackBytes;
      const [module, memory] = [this.#module, this.#memory];
      thread.postMessage({ module, memory, team, seat, stackEnd });
      this.#threads.push(thread);
    }
  }

  stop_seats() {
    for (const thread of this.#threads.splice(0)) thread.terminate();
  }

  /** Ends the threads; the memory goes when Python lets go of this object. */
  close() {
    this.stop_seats();
    openMemories.delete(this);
  }

  /**
   * @param {number} address
   * @param {number} size
   */
  #bytes(address, size) {
    return new Uint8Array(this.#memory.buffer, address, size);
  }
}

/** @param {PythonBuffer} module */
function compile(module) {
  const view = module.getBuffer('u8');
  try {
    return new WebAssembly.Module(view.data.slice());
  } finally {
    view.release();
  }
}

/**
 * @param {WebAssembly.Module} module
 * @param {WebAssembly.Memory} memory
 * @returns {Exports}
 */
function instantiate(module, memory) {
  return new WebAssembly.Instance(module, { env: { memory } }).exports;
}

/** @returns {WebAssembly.Memory | undefined} */
function makeSharedMemory() {
  for (const maximum of MOST_PAGES) {
    try {
      return new WebAssembly.Memory({ initial: FIRST_PAGES, maximum, shared: true });
    } catch {
      // The next smaller one may be had.
    }
  }
  return undefined;
}
