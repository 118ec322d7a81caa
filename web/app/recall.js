/**
 * What a person can do with what a message looks for in memory: see it before sending, change it.
 * Takes the store and the worker client. A change holds for the next message only. Does not touch
 * the DOM.
 */

import { coded } from './coded_error.js';

/** @typedef {import('./retrieval_protocol.js').Correction} Correction */
/** @typedef {import('./store.js').RecallState} RecallState */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */

const WAIT_MS = 250;

/** @type {Correction} */
export const NO_CORRECTION = Object.freeze({
  need: null,
  task: null,
  text: null,
  project: null,
  add_terms: [],
  remove_terms: [],
  pins: [],
});

export class Recall {
  #store;
  #worker;
  #asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #waiting;

  /**
   * @param {Store} store
   * @param {WorkerClient} worker
   */
  constructor(store, worker) {
    this.#store = store;
    this.#worker = worker;
  }

  /** @param {string} text the message as it stands */
  open(text) {
    this.#update({ is_open: true, text });
    this.#ask();
  }

  close() {
    this.#update({ is_open: false });
  }

  /** @param {string} text the message as it stands; asked for when nobody types */
  follow(text) {
    this.#update({ text });
    if (!this.#state.is_open) return;
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#ask(), WAIT_MS);
  }

  /** @param {Partial<Correction>} patch */
  correct(patch) {
    const correction = { ...NO_CORRECTION, ...this.#state.correction, ...patch };
    this.#update({ correction: isNothing(correction) ? null : correction });
    this.#ask();
  }

  clear() {
    this.#update({ correction: null });
    this.#ask();
  }

  async #ask() {
    const { text, correction } = this.#state;
    const { boot, draft } = this.#store.state;
    if (boot.kind !== 'ready' || text.trim() === '') {
      this.#update({ intent: null, problem: null });
      return;
    }
    this.#asked += 1;
    const number = this.#asked;
    const payload = { text, system: draft.system, intent: correction };
    /** @type {Partial<RecallState>} */
    let found;
    try {
      found = {
        intent: await this.#worker.request('intent.preview', payload).reply,
        problem: null,
      };
    } catch (thrown) {
      found = { intent: null, problem: coded(thrown).message };
    }
    // A slow reply must not replace what was asked after it.
    if (number === this.#asked) this.#update(found);
  }

  get #state() {
    return this.#store.state.recall;
  }

  /** @param {Partial<RecallState>} patch */
  #update(patch) {
    this.#store.update({ recall: { ...this.#state, ...patch } });
  }
}

/** @param {Correction} correction */
function isNothing({ need, task, text, project, add_terms, remove_terms, pins }) {
  const words = add_terms.length + remove_terms.length + pins.length;
  return need === null && task === null && text === null && project === null && words === 0;
}
