/**
 * Makes an image of the started Python, so that a later visit need not start it again.
 * Takes the asset list of this very version; starts a second Python on the same verified files, lets
 * it import all and answer once, and gives what its memory is then. Does not store anything.
 */

import { siteUrl } from '../app/site_url.js';
import { listOpened, placeLibraries } from './library_places.js';
import { findRuns } from './memory_runs.js';
import { startPyodide } from './pyodide_start.js';
import { openNetworkToPython } from './python_network.js';
import { IMAGE_MODULE } from './restore_image.js';
import { sha256 as digest } from './sha256.js';
import { unzip } from './unzip.js';

/** @typedef {import('./image_store.js').Content} Content */
/** @typedef {import('./image_store.js').Part} Part */
/** @typedef {import('./library_places.js').Library} Library */
/** @typedef {import('./library_places.js').Place} Place */
/** @typedef {import('./pyodide_start.js').PythonModule} PythonModule */
/** @typedef {import('./pyodide_start.js').Runtime} Runtime */
/** @typedef {import('./unzip.js').Member} Member */
/** @typedef {{path: string, sha256: string}} Asset */

/** What a browser never imports: tests, and stubs for type checkers. */
const LEFT_OUT = /\/tests\/|\.pyi$|\.a$|\.h$/;
const HEADER_LENGTH_WORD = 1;

/**
 * @param {readonly Asset[]} assets
 * @returns {Promise<{content: Content, code: ArrayBuffer, state: ArrayBuffer}>}
 */
export async function makeImage(assets) {
  const members = await unpackWheels(assets);
  const natives = members.filter(({ name }) => name.endsWith('.so'));
  const libraries = await Promise.all(natives.map(compile));
  /** @type {Place[]} */
  let places = [];
  const prepare = (/** @type {PythonModule} */ python) => {
    places = placeLibraries(python, libraries);
  };
  const runtime = await startPyodide({ _makeSnapshot: true }, { prepare });
  writePackages(runtime._module, members);
  const rehearsal = rehearse(runtime);
  return pack(runtime, { members, natives, places, rehearsal });
}

/**
 * @param {readonly Asset[]} assets
 * @returns {Promise<Member[]>}
 */
async function unpackWheels(assets) {
  const wheels = assets.filter(({ path }) => path.endsWith('.whl'));
  return (await Promise.all(wheels.map(unpackWheel))).flat();
}

/** @param {Asset} wheel */
async function unpackWheel({ path, sha256 }) {
  const archive = await (await fetch(siteUrl(path))).arrayBuffer();
  if ((await digest(archive)) !== sha256) throw new Error(`${path} has another sha256 than listed`);
  return unzip(archive);
}

/**
 * @param {Member} member
 * @returns {Promise<Library>}
 */
async function compile({ name, content }) {
  return { path: name, module: await WebAssembly.compile(content) };
}

/**
 * @param {PythonModule} python
 * @param {readonly Member[]} members
 */
function writePackages({ FS, API }, members) {
  for (const { name, content } of members) {
    const path = `${API.sitePackages}/${name}`;
    FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
    FS.writeFile(path, content, { canOwn: false });
  }
}

/**
 * @param {Runtime} runtime
 * @returns {string}
 */
function rehearse(runtime) {
  openNetworkToPython(runtime);
  const image = runtime.pyimport(IMAGE_MODULE);
  const answer = image.prepare();
  image.destroy();
  return answer;
}

/**
 * @param {Runtime} runtime
 * @param {{members: readonly Member[], natives: readonly Member[], places: readonly Place[], rehearsal: string}} known
 */
function pack(runtime, { members, natives, places, rehearsal }) {
  const python = runtime._module;
  const snapshot = runtime._api.makeSnapshot();
  const headerLength = new Uint32Array(snapshot.buffer)[HEADER_LENGTH_WORD] ?? 0;
  const memory = snapshot.subarray(headerLength);
  const runs = findRuns(memory);
  const files = members.filter((file) => !natives.includes(file) && !LEFT_OUT.test(file.name));
  const [code, writer] = [new PartWriter(), new PartWriter()];
  const header = code.add('header', snapshot.subarray(0, headerLength));
  const begin = writer.length;
  for (const { address, length } of runs)
    writer.add('memory', memory.subarray(address, address + length));
  const length = writer.length - begin;
  /** @type {Content} */
  const content = {
    heap_bytes: memory.length,
    table_length: python.wasmTable.length,
    header,
    memory: { offset: begin, length, runs },
    libraries: natives.map((native) => code.add(native.name, native.content)),
    places,
    opened: listOpened(python),
    files: files.map((file) => writer.add(file.name, file.content)),
    rehearsal,
  };
  return { content, code: code.join(), state: writer.join() };
}

/** Puts bytes behind one another. */
class PartWriter {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #parts = [];
  length = 0;

  /**
   * @param {string} path
   * @param {Uint8Array<ArrayBuffer>} bytes
   * @returns {Part}
   */
  add(path, bytes) {
    const part = { path, offset: this.length, length: bytes.length };
    this.#parts.push(bytes);
    this.length += bytes.length;
    return part;
  }

  join() {
    const whole = new Uint8Array(this.length);
    let offset = 0;
    for (const part of this.#parts) {
      whole.set(part, offset);
      offset += part.length;
    }
    return whole.buffer;
  }
}
