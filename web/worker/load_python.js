/**
 * Brings Python up in this worker, in named steps.
 * Takes a host object and a function to report steps to, gives the one function that Python hands
 * back: `receive`. The only Python that is named here is `py_core.bridge.worker_entry.start`.
 */

import { CodedError } from '../app/coded_error.js';
import { siteUrl } from '../app/site_url.js';

const PACKAGES = Object.freeze([
  'numpy',
  'pydantic',
  'micropip',
  'pyodide-http',
  'snowballstemmer',
]);
const LIST_DEADLINE_MS = 60_000;
export const STEP_COUNT = 4;

/** @typedef {((...parts: unknown[]) => any) & {callKwargs: (...parts: unknown[]) => any}} PythonFunction */

/**
 * @typedef {object} Runtime
 * @property {(name: string) => any} pyimport
 * @property {(names: readonly string[], options: object) => Promise<unknown>} loadPackage
 * @property {{HEAPU8: Uint8Array<ArrayBuffer>, memory?: unknown}} _module
 * @property {{on_fatal?: (error: unknown) => void}} _api
 */

/** @typedef {(step: string, done: number, text: string) => void} ReportStep */

/**
 * @param {object} host
 * @param {ReportStep} report
 * @param {(runtime: Runtime) => void} onRuntime called once, before any of our code runs
 * @returns {Promise<(json: string) => void>}
 */
export async function loadPython(host, report, onRuntime) {
  report('runtime', 0, 'Starting Python');
  const wheel = findWheel();
  const runtime = await startRuntime();
  onRuntime(runtime);
  report('packages', 1, 'Unpacking numpy and pydantic');
  await runtime.loadPackage(PACKAGES, { checkIntegrity: true, messageCallback: ignore });
  report('wheel', 2, 'Installing Tinyloom');
  await installWheel(runtime, await wheel);
  report('start', 3, 'Starting Tinyloom');
  openNetworkToPython(runtime);
  return startCore(runtime, host);
}

/** @returns {Promise<Runtime>} */
async function startRuntime() {
  const { loadPyodide } = await import(siteUrl('vendor/pyodide/pyodide.mjs'));
  const options = { indexURL: siteUrl('vendor/pyodide/'), stdout: ignore, stderr: ignore };
  return failingWithWasm(() => loadPyodide(options));
}

/**
 * Fails when the WebAssembly module cannot be fetched or compiled: Pyodide itself would only warn
 * in the console and then wait for ever.
 * @template T
 * @param {() => Promise<T>} start
 * @returns {Promise<T>}
 */
async function failingWithWasm(start) {
  const instantiate = WebAssembly.instantiateStreaming;
  /** @type {Promise<never>} */
  const failure = new Promise((_, reject) => {
    WebAssembly.instantiateStreaming = async (source, imports) => {
      try {
        return await instantiate(source, imports);
      } catch (cause) {
        reject(cause);
        throw cause;
      }
    };
  });
  try {
    return await Promise.race([start(), failure]);
  } finally {
    WebAssembly.instantiateStreaming = instantiate;
  }
}

/** @returns {Promise<string>} the address of our wheel, by the asset list of this very version */
async function findWheel() {
  const signal = AbortSignal.timeout(LIST_DEADLINE_MS);
  const response = await fetch(siteUrl('assets.json'), { signal });
  /** @type {{files: {path: string, role: string}[]}} */
  const assets = await response.json();
  const found = assets.files.find((file) => file.role === 'python');
  if (!found)
    throw new CodedError('no_wheel', 'assets.json names no Python wheel. Run serve.py again.');
  return siteUrl(found.path);
}

/**
 * @param {Runtime} runtime
 * @param {string} wheel
 */
async function installWheel(runtime, wheel) {
  const micropip = runtime.pyimport('micropip');
  // What it needs is loaded already: no index is asked.
  await micropip.install.callKwargs(wheel, { deps: false });
  micropip.destroy();
}

/**
 * Lets Python's urllib use the browser's network.
 * On an isolated page pyodide-http would start a helper from a blob, which the content security
 * policy forbids: Chromium would then wait for it for ever, and WebKit fails at once. While it is
 * imported the page looks not isolated, so it asks synchronously in this worker.
 * @param {Runtime} runtime
 */
function openNetworkToPython(runtime) {
  const name = 'crossOriginIsolated';
  const own = Object.getOwnPropertyDescriptor(self, name);
  Object.defineProperty(self, name, { value: false, configurable: true });
  try {
    const http = runtime.pyimport('pyodide_http');
    http.patch_all();
    http.destroy();
  } finally {
    if (own) Object.defineProperty(self, name, own);
    else Reflect.deleteProperty(self, name);
  }
}

/**
 * @param {Runtime} runtime
 * @param {object} host
 * @returns {(json: string) => void}
 */
function startCore(runtime, host) {
  const entry = runtime.pyimport('py_core.bridge.worker_entry');
  const receive = entry.start(host);
  entry.destroy();
  return receive;
}

function ignore() {}
