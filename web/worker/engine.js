/**
 * The rest of the worker: brings Python up, then passes strings both ways.
 * Requests about model files are answered here, also while Python is starting; all others wait for
 * it in order. Says nothing before it is spoken to. Knows the kinds by name only.
 */

import { CodedError, coded } from '../app/coded_error.js';
import { PROTOCOL_VERSION, WORKER_ID } from '../app/protocol.js';
import { onDatabaseClosed } from './database.js';
import { makeHost } from './host.js';
import { loadPython, STEP_COUNT } from './load_python.js';
import { ModelBytes } from './model_bytes.js';
import { ModelStore } from './model_store.js';
import { StoreRequests } from './store_requests.js';

/** @typedef {import('../app/protocol.js').RequestMessage} RequestMessage */

const bytes = new ModelBytes();
const storeRequests = new StoreRequests(new ModelStore(), bytes);

/** @type {Map<number, AbortController>} */
const underWay = new Map();
/** @type {{id: number, json: string}[]} */
const waitingForPython = [];
/** @type {((json: string) => void) | null} */
let receive = null;
/** @type {CodedError | null} */
let failure = null;
let pythonHeap = () => new Uint8Array();
/** @type {() => unknown} */
let pythonMemory = () => undefined;

/** @type {string[] | null} what was to be said before anybody spoke to this worker */
let unsaid = [];

/** @param {MessageEvent<string | {json: string, file: File}>} message */
export function takeMessage(message) {
  const { json, file } =
    typeof message.data === 'string' ? { json: message.data, file: null } : message.data;
  for (const text of unsaid?.splice(0) ?? []) self.postMessage(text);
  unsaid = null;
  /** @type {RequestMessage} */
  const request = JSON.parse(json);
  if (request.kind.startsWith('store.')) answerHere(request, file);
  else if (request.kind === 'cancel' && cancelHere(request)) return;
  else passToPython(request.id, json);
}

/**
 * @param {RequestMessage} request
 * @param {File | null} file
 */
async function answerHere({ id, kind, payload }, file) {
  const controller = new AbortController();
  underWay.set(id, controller);
  const asked = {
    file,
    signal: controller.signal,
    progress: (
      /** @type {string} */ step,
      /** @type {number} */ done,
      /** @type {number} */ total,
      /** @type {string} */ text,
    ) => postEvent(id, 'progress', { step, done, total, text }),
    notice: (/** @type {string} */ code, /** @type {string} */ text) =>
      postEvent(id, 'notice', { code, text }),
  };
  try {
    post({ id, ok: true, value: await storeRequests.answer(kind, payload, asked) });
  } catch (thrown) {
    postError(id, coded(thrown));
  } finally {
    underWay.delete(id);
  }
}

/**
 * @param {RequestMessage} request
 * @returns {boolean} whether the target runs here
 */
function cancelHere({ id, payload }) {
  const { target } = /** @type {{target: number}} */ (payload);
  const controller = underWay.get(target);
  if (!controller) return false;
  controller.abort();
  post({ id, ok: true, value: { target, outcome: 'stopping' } });
  return true;
}

/**
 * @param {number} id
 * @param {string} json
 */
function passToPython(id, json) {
  if (failure) return postError(id, failure);
  if (!receive) return void waitingForPython.push({ id, json });
  try {
    receive(json);
  } catch (thrown) {
    pythonLost(thrown);
  }
}

async function boot() {
  requireSecureContext();
  const host = makeHost({
    post: (json) => self.postMessage(json),
    bytes,
    keepConverted: (sha256, content) =>
      storeRequests.keepConverted(sha256, content, (code, text) =>
        postEvent(WORKER_ID, 'notice', { code, text }),
      ),
    pythonHeap: () => pythonHeap(),
    pythonMemory: () => pythonMemory(),
  });
  const python = await loadPython(host, reportStep, (runtime) => {
    pythonHeap = () => runtime._module.HEAPU8;
    pythonMemory = () => runtime._module.memory;
    runtime._api.on_fatal = pythonLost;
  });
  receive = python.receive;
  postEvent(WORKER_ID, 'ready', { text: 'Ready', image: python.image });
  for (const { id, json } of waitingForPython.splice(0)) passToPython(id, json);
}

function requireSecureContext() {
  if (self.isSecureContext) return;
  throw new CodedError(
    'insecure_context',
    'The browser gives this address no storage and no hashing. Open the page through localhost or https.',
  );
}

/**
 * @param {string} step
 * @param {number} done
 * @param {string} text
 */
function reportStep(step, done, text) {
  postEvent(WORKER_ID, 'boot', { step, done, total: STEP_COUNT, text });
}

/** @param {unknown} thrown */
function pythonLost(thrown) {
  fail(new CodedError('worker_lost', `Python stopped (${lastLine(thrown)}).`));
}

/**
 * The line of a traceback that says what happened.
 * @param {unknown} thrown
 */
function lastLine(thrown) {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.trim().split('\n').at(-1) ?? text;
}

/** @param {CodedError} error */
function fail(error) {
  failure = error;
  receive = null;
  postEvent(WORKER_ID, 'failed', { code: error.code, message: error.message });
  for (const { id } of waitingForPython.splice(0)) postError(id, error);
}

/**
 * @param {number} id
 * @param {string} event
 * @param {object} data
 */
function postEvent(id, event, data) {
  post({ id, event, data });
}

/**
 * @param {number} id
 * @param {CodedError} error
 */
function postError(id, { code, message, details }) {
  post({ id, ok: false, error: { code, message, details } });
}

/** @param {object} message */
function post(message) {
  const text = JSON.stringify({ v: PROTOCOL_VERSION, ...message });
  if (unsaid) unsaid.push(text);
  else self.postMessage(text);
}

/** @param {unknown} thrown */
function bootFailed(thrown) {
  const text = `Python did not start (${lastLine(thrown)}). Reload the page.`;
  fail(thrown instanceof CodedError ? thrown : new CodedError('boot_failed', text));
}

onDatabaseClosed(() => {
  const text = 'The browser has closed the store of the memory.';
  postEvent(WORKER_ID, 'notice', { code: 'storage_closed', text });
});
boot().catch(bootFailed);
