/**
 * Python as it was when an image of it was taken.
 * Takes a verified image; gives the running Pyodide, with everything imported. Throws where the
 * image does not fit: then Python has to be started as usual. Does not keep or make images.
 */

import { placeLibraries, reopen } from './library_places.js';
import { layOut } from './memory_runs.js';
import { startPyodide } from './pyodide_start.js';

/** @typedef {import('./image_store.js').Content} Content */
/** @typedef {import('./image_store.js').Image} Image */
/** @typedef {import('./image_store.js').Part} Part */
/** @typedef {import('./library_places.js').Library} Library */
/** @typedef {import('./pyodide_start.js').PythonModule} PythonModule */
/** @typedef {import('./pyodide_start.js').Runtime} Runtime */

const FILE_MODE = 0o100644;

/** The one Python module that is asked about images. */
export const IMAGE_MODULE = 'py_core.bridge.start_image';

/**
 * @param {Image} image
 * @returns {Promise<Runtime>}
 */
export async function restoreImage({ content, code, state, verified }) {
  const bytes = await code;
  const compiled = await compileAll(bytes, content.libraries);
  performance.mark('libraries compiled');
  const runtime = await startPyodide(
    { _loadSnapshot: viewOf(bytes, content.header).slice() },
    {
      prepare: (python) => prepare(python, content, compiled),
      complete: async (python) => {
        complete(python, content, await state);
        await verified; // Till now nothing of the image has run.
      },
    },
  );
  performance.mark('python restored');
  const image = runtime.pyimport(IMAGE_MODULE);
  image.wake();
  image.destroy();
  return runtime;
}

/**
 * @param {PythonModule} python
 * @param {Content} content
 * @param {readonly Library[]} compiled
 */
function prepare(python, content, compiled) {
  const places = placeLibraries(python, compiled);
  if (JSON.stringify(places) !== JSON.stringify(content.places))
    throw new Error('the libraries came to lie elsewhere than in the image');
  reopen(python, content.opened);
  const missing = content.table_length - python.wasmTable.length;
  if (missing > 0) python.wasmTable.grow(missing);
  performance.mark('libraries placed');
}

/**
 * @param {PythonModule} python
 * @param {Content} content
 * @param {ArrayBuffer} bytes
 */
function complete(python, content, bytes) {
  performance.mark('state read');
  const dirtyBytes = python.HEAPU8.length;
  if (dirtyBytes < content.heap_bytes && !python._emscripten_resize_heap(content.heap_bytes))
    throw new Error('there is too little memory for the image');
  const { runs, offset, length } = content.memory;
  layOut(python.HEAPU8, { runs, packed: new Uint8Array(bytes, offset, length), dirtyBytes });
  performance.mark('memory laid out');
  writeFiles(python, bytes, content.files);
  performance.mark('files written');
}

/**
 * @param {PythonModule} python
 * @param {ArrayBuffer} bytes
 * @param {readonly Part[]} files
 */
function writeFiles({ FS, API }, bytes, files) {
  /** @type {Map<string, object>} */
  const folders = new Map();
  const openFolder = (/** @type {string} */ folder) => {
    const path = `${API.sitePackages}/${folder}`;
    FS.mkdirTree(path);
    return FS.lookupPath(path).node;
  };
  for (const part of files) {
    const cut = part.path.lastIndexOf('/') + 1;
    const folder = part.path.slice(0, cut);
    const parent = folders.get(folder) ?? openFolder(folder);
    folders.set(folder, parent);
    // Made in its folder at once: looking up hundreds of paths takes longer than all the rest.
    const node = FS.filesystems.MEMFS.createNode(parent, part.path.slice(cut), FILE_MODE, 0);
    node.contents = viewOf(bytes, part);
    node.usedBytes = part.length;
  }
}

/**
 * @param {ArrayBuffer} bytes
 * @param {readonly Part[]} parts
 * @returns {Promise<Library[]>}
 */
function compileAll(bytes, parts) {
  const compile = async (/** @type {Part} */ part) => {
    return { path: part.path, module: await WebAssembly.compile(viewOf(bytes, part)) };
  };
  return Promise.all(parts.map(compile));
}

/**
 * @param {ArrayBuffer} bytes
 * @param {Part} part
 */
function viewOf(bytes, { offset, length }) {
  return new Uint8Array(bytes, offset, length);
}
