/**
 * Runs the embedder's bench inside Pyodide on the kernel module. Takes {ourWheel, embedder, counts}
 * as its one message; gives {report} as JSON text or {failure}. Does not know what is measured.
 */
import { loadPyodide } from '/vendor/pyodide/pyodide.mjs';

/** @param {string} url */
async function fetchBytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.arrayBuffer();
}

/** @param {{ourWheel: string, embedder: string, counts: string}} order */
async function run({ ourWheel, embedder, counts }) {
  const pyodide = await loadPyodide({ indexURL: '/vendor/pyodide/' });
  await pyodide.loadPackage(['numpy', 'pydantic', 'micropip', 'packaging', 'snowballstemmer']);
  const micropip = pyodide.pyimport('micropip');
  await micropip.install.callKwargs(new URL(ourWheel, location.href).href, { deps: false });
  pyodide.unpackArchive(await fetchBytes('/bundle/bundle.zip'), 'zip');
  const instantiate = (module) => {
    const view = module.getBuffer('u8');
    const bytes = view.data.slice();
    view.release();
    const memory = pyodide._module.memory;
    return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } }).exports;
  };
  const bench = pyodide.pyimport('tests.bench.embedder_inside');
  const data = pyodide.toPy(new Uint8Array(await fetchBytes(embedder)));
  return bench.measure(instantiate, data.tobytes(), counts);
}

self.onmessage = async (message) => {
  try {
    postMessage({ report: await run(message.data) });
  } catch (error) {
    postMessage({ failure: String(error?.stack ?? error) });
  }
};
