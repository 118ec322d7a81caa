/**
 * Runs pytest inside Pyodide. Takes {wheels, ourWheel, paths} as its one message; gives progress
 * texts and then {exitCode} or {failure}. Does not know the tests.
 */
import { loadPyodide } from '/vendor/pyodide/pyodide.mjs';

/** @param {string} url */
async function fetchBytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.arrayBuffer();
}

/** @param {{wheels: string[], ourWheel: string, paths: string[]}} order */
async function runTests({ wheels, ourWheel, paths }) {
  const pyodide = await loadPyodide({ indexURL: '/vendor/pyodide/' });
  pyodide.setStdout({ batched: (text) => postMessage({ progress: text }) });
  pyodide.setStderr({ batched: (text) => postMessage({ progress: text }) });
  await pyodide.loadPackage(['numpy', 'pydantic', 'micropip', 'packaging', 'snowballstemmer']);
  for (const url of wheels) pyodide.unpackArchive(await fetchBytes(url), 'wheel');
  const micropip = pyodide.pyimport('micropip');
  await micropip.install.callKwargs(new URL(ourWheel, location.href).href, { deps: false });
  pyodide.unpackArchive(await fetchBytes('/bundle/bundle.zip'), 'zip');
  const runInside = pyodide.pyimport('run_inside');
  return runInside.run.callPromising(JSON.stringify(paths));
}

self.onmessage = async (message) => {
  try {
    postMessage({ exitCode: await runTests(message.data) });
  } catch (error) {
    postMessage({ failure: String(error?.stack ?? error) });
  }
};
