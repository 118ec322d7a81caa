/**
 * Native libraries of Python, put into its memory before anything else takes some.
 * Takes compiled modules in a fixed order, by their paths in the folder of packages; gives where each
 * came to lie. The same order at the same
 * moment gives the same places in every start, so that an image of the memory fits them. Does not
 * know images.
 */

/** @typedef {import('./pyodide_start.js').PythonModule} PythonModule */
/** @typedef {{path: string, module: WebAssembly.Module}} Library */
/** @typedef {{memory: number, table: number}} Place */

const HANDLE_BYTES = 128;
/** Where a handle of the dynamic linker holds the two numbers. */
const MEMORY_BASE_AT = 12;
const TABLE_BASE_AT = 20;

/**
 * Python finds a library that is put here when it opens the file at its path.
 * @param {PythonModule} python
 * @param {readonly Library[]} libraries
 * @returns {Place[]}
 */
export function placeLibraries(python, libraries) {
  return libraries.map((library) => {
    const path = `${python.API.sitePackages}/${library.path}`;
    const handle = python._malloc(HANDLE_BYTES);
    python.HEAPU8.fill(0, handle, handle + HANDLE_BYTES);
    const flags = { loadAsync: false, nodelete: true, global: false };
    python.preloadedWasm[path] = python.loadWebAssemblyModule(
      library.module,
      flags,
      path,
      {},
      handle,
    );
    const word = (/** @type {number} */ at) => python.HEAPU32[(handle + at) >>> 2] ?? 0;
    return { memory: word(MEMORY_BASE_AT), table: word(TABLE_BASE_AT) };
  });
}

/**
 * The libraries that Python has opened, by the handles that its memory names them with.
 * @param {PythonModule} python
 * @returns {{handle: number, path: string}[]}
 */
export function listOpened(python) {
  return Object.entries(python.LDSO.loadedLibsByHandle)
    .map(([handle, { name }]) => ({ handle: Number(handle), path: name }))
    .filter(({ handle }) => handle !== 0); // Python itself
}

/**
 * @param {PythonModule} python
 * @param {readonly {handle: number, path: string}[]} opened
 */
export function reopen(python, opened) {
  for (const { handle, path } of opened) {
    const exports = python.preloadedWasm[path];
    if (!exports) throw new Error(`${path} is opened in the image and was not placed`);
    python.newDSO(path, handle, exports);
  }
}
