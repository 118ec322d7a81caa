/**
 * Starts Pyodide, and fails where Pyodide itself would only warn and then wait for ever.
 * Takes its options and, where its memory is to be touched before Python runs, a function for that.
 * Fetching and compiling begin with this file. Does not know what is loaded into Python.
 */

import { siteUrl } from '../app/site_url.js';

/**
 * What is used of the Emscripten module below Pyodide.
 * @typedef {object} PythonModule
 * @property {Uint8Array<ArrayBuffer>} HEAPU8 Python's memory as it is now
 * @property {Uint32Array<ArrayBuffer>} HEAPU32
 * @property {unknown} [memory] the WebAssembly memory behind it
 * @property {WebAssembly.Table} wasmTable
 * @property {Record<string, object>} preloadedWasm
 * @property {{loadedLibsByHandle: Record<string, {name: string}>}} LDSO
 * @property {(name: string, handle: number, exports: object) => unknown} newDSO
 * @property {(module: WebAssembly.Module, flags: object, path: string, scope: object, handle: number) => object} loadWebAssemblyModule
 * @property {(size: number) => number} _malloc
 * @property {(size: number) => boolean} _emscripten_resize_heap
 * @property {FileSystem} FS
 * @property {{sitePackages: string}} API
 * @property {() => void} [onRuntimeInitialized]
 */

/** @typedef {{contents: Uint8Array<ArrayBuffer>, usedBytes: number}} FileNode */

/**
 * @typedef {object} FileSystem
 * @property {(path: string) => void} mkdirTree
 * @property {(path: string, bytes: Uint8Array<ArrayBuffer>, options: object) => void} writeFile
 * @property {(path: string) => {node: object}} lookupPath
 * @property {{MEMFS: {createNode: (parent: object, name: string, mode: number, device: number) => FileNode}}} filesystems
 */

/**
 * @typedef {object} Runtime
 * @property {(name: string) => any} pyimport
 * @property {(names: readonly string[], options: object) => Promise<unknown>} loadPackage
 * @property {PythonModule} _module
 * @property {{on_fatal?: (error: unknown) => void, makeSnapshot: () => Uint8Array<ArrayBuffer>}} _api
 */

/**
 * @typedef {object} Early
 * @property {(module: PythonModule) => void} prepare called once the memory is there and before Python is
 * @property {(module: PythonModule) => Promise<void>} [complete] Python does not run before it is done
 */

const FOLDER = siteUrl('vendor/pyodide/');

// All three are wanted in any case, and each takes a while: they begin when this file is read.
const python = WebAssembly.compileStreaming(fetch(`${FOLDER}pyodide.asm.wasm`));
const loader = import(`${FOLDER}pyodide.mjs`);
const glue = import(`${FOLDER}pyodide.asm.mjs`);
for (const begun of [python, loader, glue]) begun.catch(ignore); // said by whoever waits for it

/**
 * @param {object} options
 * @param {Early} [early]
 * @returns {Promise<Runtime>}
 */
export async function startPyodide(options, early) {
  const { loadPyodide } = await loader;
  const silent = { stdout: ignore, stderr: ignore };
  const common = { indexURL: FOLDER, ...silent, ...options };
  return withCompiledPython((fail) => {
    const createPyodideModule = early && createPrepared(early, fail);
    return loadPyodide({ ...common, createPyodideModule });
  });
}

/**
 * @param {Early} early
 * @param {(cause: unknown) => void} fail
 */
function createPrepared({ prepare, complete }, fail) {
  return async (/** @type {PythonModule} */ settings) => {
    settings.onRuntimeInitialized = () => {
      try {
        prepare(settings);
      } catch (cause) {
        fail(cause);
        throw cause;
      }
    };
    const module = await (await glue).default(settings);
    await complete?.(module);
    return module;
  };
}

/**
 * Gives Pyodide the module that is compiled already, and fails when it cannot be compiled.
 * @template T
 * @param {(fail: (cause: unknown) => void) => Promise<T>} start
 * @returns {Promise<T>}
 */
async function withCompiledPython(start) {
  const instantiate = WebAssembly.instantiateStreaming;
  /** @type {(cause: unknown) => void} */
  let fail = ignore;
  /** @type {Promise<never>} */
  const failure = new Promise((_, reject) => {
    fail = reject;
  });
  WebAssembly.instantiateStreaming = async (source, imports) => {
    try {
      Promise.resolve(source).then((unread) => unread.body?.cancel(), ignore);
      const module = await python;
      return { module, instance: await WebAssembly.instantiate(module, imports) };
    } catch (cause) {
      fail(cause);
      throw cause;
    }
  };
  try {
    return await Promise.race([start(fail), failure]);
  } finally {
    WebAssembly.instantiateStreaming = instantiate;
  }
}

function ignore() {}
