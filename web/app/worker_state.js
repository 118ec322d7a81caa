/**
 * Follows the worker itself: starting, ready, failed, lost.
 * Takes its own events, changes the store. Later progress cannot leave a settled state.
 */

import { CodedError } from './coded_error.js';
import { forgotten } from './exchange.js';

/** @typedef {import('./protocol.js').ErrorBody} ErrorBody */
/** @typedef {import('./protocol.js').OwnEvent} OwnEvent */
/** @typedef {import('./store.js').Store} Store */

/**
 * @typedef {object} Consequences
 * @property {(error: CodedError) => void} onDead called when the worker says that Python is gone
 * @property {() => void} onReplaced called when a lost worker has been replaced by a new one
 * @property {() => void} onStorageClosed called when the browser has closed the database
 */

export class WorkerState {
  #store;
  #consequences;
  #started_ms = 0; // The first start counts from the page's own beginning.

  /**
   * @param {Store} store
   * @param {Consequences} consequences
   */
  constructor(store, consequences) {
    this.#store = store;
    this.#consequences = consequences;
  }

  /** @param {OwnEvent} event */
  onOwnEvent(event) {
    const is_booting = this.#store.state.boot.kind === 'booting';
    switch (event.event) {
      case 'boot':
        if (is_booting) this.#store.update({ boot: { kind: 'booting', progress: event.data } });
        break;
      case 'ready':
        if (is_booting) this.#showReady(event.data.image);
        break;
      case 'failed':
        this.#showFailure(event.data);
        break;
      case 'notice':
        if (event.data.code === 'storage_closed') this.#consequences.onStorageClosed();
        else this.#store.say('storage', { ...event.data, level: 'info' });
        break;
    }
  }

  /** @param {CodedError} error */
  onLost(error) {
    this.#started_ms = performance.now();
    const progress = { step: 'runtime', done: 0, total: 4, text: 'Starting again' };
    this.#store.update({
      boot: { kind: 'booting', progress },
      model: { facts: null, loading: null },
      kv: null,
      plan: null,
      lastTurn: null,
      lastPair: null,
      memoryPlan: null,
      freed: null,
      messages: this.#store.state.messages.map(forgotten),
    });
    this.#sayWhatIsLeft(error);
    this.#consequences.onReplaced();
  }

  /** @param {CodedError} error */
  #sayWhatIsLeft({ code, message }) {
    const left = 'load the model to go on. The transcript is still here, the context is empty.';
    if (code === 'model_freed') {
      const text = `${message} The engine starts again, so that its memory is given back; ${left}`;
      this.#store.say('engine', { level: 'info', code, text });
    } else {
      this.#store.say('engine', { code, text: `${message} It was started again; ${left}` });
    }
  }

  /** @param {'used' | 'none' | 'refused'} image */
  #showReady(image) {
    const took_ms = performance.now() - this.#started_ms;
    this.#store.update({ boot: { kind: 'ready', took_ms, image } });
  }

  /** @param {ErrorBody} error */
  #showFailure({ code, message }) {
    if (code === 'worker_lost') {
      this.#consequences.onDead(new CodedError(code, message));
      return;
    }
    this.#store.update({ boot: { kind: 'failed', code, text: message } });
    this.#store.say('engine', { code, text: message, action: 'restart' });
  }
}
