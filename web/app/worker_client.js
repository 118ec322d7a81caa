/**
 * The page's end of the worker protocol: ids, pending requests, events, cancel, restart.
 * Takes a function that makes the worker; gives each request a promise that settles exactly once.
 * A lost worker rejects all that is pending and is replaced; nothing is ever sent twice. Does not
 * know what the requests are for.
 */

import { CodedError } from './coded_error.js';
import { PROTOCOL_VERSION, WORKER_ID } from './protocol.js';

/** @typedef {import('./protocol.js').Calls} Calls */
/** @typedef {import('./protocol.js').Kind} Kind */
/** @typedef {import('./protocol.js').RequestEvent} RequestEvent */
/** @typedef {import('./protocol.js').OwnEvent} OwnEvent */

/**
 * @typedef {object} Pending
 * @property {(value: any) => void} resolve
 * @property {(error: CodedError) => void} reject
 * @property {(event: RequestEvent) => void} onEvent
 */

/**
 * @typedef {object} WorkerListener
 * @property {(event: OwnEvent) => void} onOwnEvent
 * @property {(error: CodedError) => void} onLost
 */

export class WorkerClient {
  #makeWorker;
  #listener;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #lastId = 0;
  /** @type {Worker} */
  #worker;

  /**
   * @param {() => Worker} makeWorker
   * @param {WorkerListener} listener
   */
  constructor(makeWorker, listener) {
    this.#makeWorker = makeWorker;
    this.#listener = listener;
    this.#worker = this.#start();
  }

  /**
   * @template {Kind} K
   * @param {K} kind
   * @param {Calls[K]['payload']} payload
   * @param {{onEvent?: (event: RequestEvent) => void, file?: File}} [options]
   * @returns {{id: number, reply: Promise<Calls[K]['value']>}}
   */
  request(kind, payload, { onEvent = () => {}, file } = {}) {
    this.#lastId += 1;
    const id = this.#lastId;
    const reply = new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onEvent });
    });
    const json = JSON.stringify({ v: PROTOCOL_VERSION, id, kind, payload });
    this.#worker.postMessage(file ? { json, file } : json);
    return { id, reply };
  }

  /**
   * Ends the worker and starts another one; all that is pending fails with the error.
   * @param {CodedError} error
   */
  restart(error) {
    this.#worker.terminate();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#worker = this.#start();
    for (const { reject } of pending) reject(error);
    this.#listener.onLost(error);
  }

  #start() {
    const worker = this.#makeWorker();
    worker.onmessage = (message) => this.#receive(JSON.parse(message.data));
    worker.onerror = (event) => {
      event.preventDefault();
      this.restart(lost(event.message));
    };
    worker.onmessageerror = () => this.restart(lost('a message could not be read'));
    return worker;
  }

  /** @param {import('./protocol.js').EventMessage | import('./protocol.js').ReplyMessage} message */
  #receive(message) {
    if ('event' in message) this.#receiveEvent(message);
    else this.#receiveReply(message);
  }

  /** @param {import('./protocol.js').EventMessage} message */
  #receiveEvent(message) {
    if (message.id === WORKER_ID) {
      this.#listener.onOwnEvent(/** @type {OwnEvent} */ (message));
    } else {
      this.#pending.get(message.id)?.onEvent(/** @type {RequestEvent} */ (message));
    }
  }

  /** @param {import('./protocol.js').ReplyMessage} message */
  #receiveReply(message) {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (!pending) return;
    if (message.ok) pending.resolve(message.value);
    else
      pending.reject(
        new CodedError(message.error.code, message.error.message, message.error.details),
      );
  }
}

/** @param {string | undefined} reason */
function lost(reason) {
  return new CodedError('worker_lost', `The engine stopped (${reason || 'no reason given'}).`);
}
