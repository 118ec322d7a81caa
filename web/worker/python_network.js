/**
 * Lets Python's urllib use the browser's network.
 * Takes the running Pyodide with pyodide-http installed. Does not ask anything itself.
 */

/** @typedef {import('./pyodide_start.js').Runtime} Runtime */

/**
 * On an isolated page pyodide-http would start a helper from a blob, which the content security
 * policy forbids: Chromium would then wait for it for ever, and WebKit fails at once. While it is
 * imported the page looks not isolated, so it asks synchronously in this worker.
 * @param {Runtime} runtime
 */
export function openNetworkToPython(runtime) {
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
