/**
 * Brings Python up in this worker, in named steps.
 * Takes a host object and a function to report steps to, gives the one function that Python hands
 * back: `receive`. A kept image of the started Python saves most of it; where there is none, or it
 * does not fit, Python starts as on the first visit. The only Python that is named here is
 * `py_core.bridge.worker_entry.start`.
 */

import { CodedError } from '../app/coded_error.js';
import { siteUrl } from '../app/site_url.js';
import { forgetImage, refuseImage } from './image_store.js';
import { startPyodide } from './pyodide_start.js';
import { assets, image as keptImage } from './python_begun.js';
import { openNetworkToPython } from './python_network.js';
import { restoreImage } from './restore_image.js';

const PACKAGES = Object.freeze([
  'numpy',
  'pydantic',
  'micropip',
  'pyodide-http',
  'snowballstemmer',
]);
export const STEP_COUNT = 4;

/** @typedef {((...parts: unknown[]) => any) & {callKwargs: (...parts: unknown[]) => any}} PythonFunction */

/** @typedef {import('./pyodide_start.js').Runtime} Runtime */

/** @typedef {(step: string, done: number, text: string) => void} ReportStep */

/** @typedef {import('./python_begun.js').AssetList} AssetList */

/** @typedef {'used' | 'none' | 'refused'} ImageState whether there was an image, or can be one */

/**
 * @param {object} host
 * @param {ReportStep} report
 * @param {(runtime: Runtime) => void} onRuntime called once, before any of our code runs
 * @returns {Promise<{receive: (json: string) => void, image: ImageState}>}
 */
export async function loadPython(host, report, onRuntime) {
  report('runtime', 0, 'Starting Python');
  const { runtime, image } = await startFromImage();
  if (runtime) {
    onRuntime(runtime);
    report('start', 3, 'Starting Tinyloom');
    return { receive: startCore(runtime, host), image };
  }
  return { receive: await startAnew(host, report, onRuntime), image };
}

/** @returns {Promise<{runtime: Runtime | null, image: ImageState}>} */
async function startFromImage() {
  const image = await keptImage;
  if (typeof image === 'string') return { runtime: null, image };
  try {
    return { runtime: await restoreImage(image), image: 'used' };
  } catch {
    const is_damaged = await image.verified.then(
      () => false,
      () => true,
    );
    await (is_damaged ? forgetImage() : refuseImage((await assets).version));
    return { runtime: null, image: is_damaged ? 'none' : 'refused' };
  }
}

/**
 * @param {object} host
 * @param {ReportStep} report
 * @param {(runtime: Runtime) => void} onRuntime
 * @returns {Promise<(json: string) => void>}
 */
async function startAnew(host, report, onRuntime) {
  const runtime = await startPyodide({});
  onRuntime(runtime);
  report('packages', 1, 'Unpacking numpy and pydantic');
  await runtime.loadPackage(PACKAGES, { checkIntegrity: true, messageCallback: () => {} });
  report('wheel', 2, 'Installing Tinyloom');
  await installWheel(runtime, findWheel(await assets));
  report('start', 3, 'Starting Tinyloom');
  openNetworkToPython(runtime);
  return startCore(runtime, host);
}

/** @param {AssetList} assets */
function findWheel({ files }) {
  const found = files.find((file) => file.role === 'python');
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
