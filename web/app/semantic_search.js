/**
 * The search by meaning: on or off as the person chose, loaded when there is time for it.
 * Takes the store and the worker client. The embedder comes after the model and never while an
 * answer is written; whatever fails is said, and records are then found by words alone. Does not
 * touch the DOM.
 */

import { coded } from './coded_error.js';
import { show } from './dom.js';

/** @typedef {import('./embedder_protocol.js').EmbedderFacts} EmbedderFacts */
/** @typedef {import('./store_protocol.js').ShelfEntry} ShelfEntry */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */

/**
 * Where the choice is remembered; a browser that refuses it rejects.
 * @typedef {object} Keeper
 * @property {() => Promise<string | null>} read
 * @property {(choice: 'on' | 'off') => Promise<void>} write
 */

/** A person who has just loaded a model looks at the page before writing. */
const QUIET_MS = 1500;
const LOOK_AGAIN_MS = 700;

export class SemanticSearch {
  #store;
  #worker;
  #keeper;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #look;

  /**
   * @param {Store} store
   * @param {WorkerClient} worker
   * @param {Keeper} keeper
   */
  constructor(store, worker, keeper) {
    this.#store = store;
    this.#worker = worker;
    this.#keeper = keeper;
    store.watch(['model', 'turn', 'shelf'], () => this.#consider());
    store.watch(['turn', 'memory'], () => this.#lookSoon());
  }

  /** Reads what was chosen on an earlier visit; nothing is loaded before that. */
  async recall() {
    const choice = await this.#keeper.read().catch(() => null);
    if (this.#store.state.embedder.is_wanted !== null) return; // Chosen anew meanwhile.
    this.#update({ is_wanted: choice !== 'off' });
    this.#consider();
  }

  /** @param {boolean} is_wanted */
  choose(is_wanted) {
    // What a browser refuses to keep lasts until the tab closes.
    this.#keeper.write(is_wanted ? 'on' : 'off').catch(() => undefined);
    this.#update({ is_wanted });
    if (is_wanted) this.#consider();
    else this.#free();
  }

  /** The worker was replaced, and with it went the embedder. */
  forget() {
    clearTimeout(this.#look);
    this.#update({ stage: 'off', facts: null, problem: '' });
    this.#consider();
  }

  #consider() {
    clearTimeout(this.#timer);
    const { model, turn, embedder } = this.#store.state;
    const is_quiet = model.facts !== null && !model.loading && turn.kind === 'idle';
    const entry = this.#findOffer();
    if (!is_quiet || !entry || !embedder.is_wanted || embedder.stage !== 'off') return;
    this.#timer = setTimeout(() => this.#load(entry), QUIET_MS);
  }

  /** @returns {ShelfEntry | undefined} a stored one before one that has to be fetched */
  #findOffer() {
    const { shelf } = this.#store.state;
    if (shelf.kind !== 'known') return undefined;
    return shelf.embedders.find((entry) => entry.is_stored) ?? shelf.embedders[0];
  }

  /** @param {ShelfEntry} entry */
  async #load({ sha256, label, file_bytes, is_stored }) {
    this.#update({ stage: 'loading', problem: '' });
    if (!is_stored) {
      const text = `Fetching ${label} (${show(file_bytes, 'bytes')}, once), so that records are found by meaning too.`;
      this.#store.say('embedder', { level: 'info', code: 'embedder_fetched', text });
    }
    try {
      const { handle, name } = await this.#worker.request('store.open', { sha256 }).reply;
      const payload = { handle, name, file_bytes, sha256 };
      this.#show(await this.#worker.request('embedder.load', payload).reply);
    } catch (thrown) {
      const { code, message } = coded(thrown);
      if (code !== 'worker_lost') this.#fail(code, message);
    }
  }

  async #free() {
    clearTimeout(this.#timer);
    const { stage } = this.#store.state.embedder;
    if (stage === 'off') return;
    this.#store.unsay(['embedder']);
    this.#update({ stage: 'off', facts: null, problem: '' });
    if (stage !== 'failed') await this.#worker.request('embedder.free', {}).reply.catch(() => null);
  }

  /** @param {EmbedderFacts} facts */
  #show(facts) {
    this.#store.unsay(['embedder']);
    const { embedder } = this.#store.state;
    if (!embedder.is_wanted) {
      this.#update({ stage: 'loading' });
      this.#free(); // Switched off while it was loading.
    } else if (facts.stage === 'failed') {
      this.#fail(facts.reason, facts.text);
    } else {
      this.#update({ stage: 'ready', facts });
      this.#lookSoon();
    }
  }

  /**
   * @param {string} code
   * @param {string} message
   */
  #fail(code, message) {
    this.#update({ stage: 'failed', facts: null, problem: message });
    const text = `No search by meaning, records are found by words alone: ${message}`;
    this.#store.say('embedder', { level: 'info', code, text });
  }

  /** Asks how many records have their vectors, until none waits. */
  #lookSoon() {
    clearTimeout(this.#look);
    const { embedder, turn } = this.#store.state;
    if (embedder.stage !== 'ready' || turn.kind !== 'idle') return;
    this.#look = setTimeout(async () => {
      const facts = await this.#worker.request('embedder.facts', {}).reply.catch(() => null);
      if (facts?.stage !== 'ready' || this.#store.state.embedder.stage !== 'ready') return;
      this.#update({ facts });
      if (facts.missing > 0) this.#lookSoon();
    }, LOOK_AGAIN_MS);
  }

  /** @param {Partial<import('./store.js').EmbedderState>} patch */
  #update(patch) {
    this.#store.update({ embedder: { ...this.#store.state.embedder, ...patch } });
  }
}
