/**
 * What a person can do with models: load, open a file, cancel, free, remove.
 * Takes the store and the worker client. Does not touch the DOM and does not know what is inside
 * a file.
 */

import { CodedError, coded } from './coded_error.js';

/** @typedef {import('./protocol.js').Checksum} Checksum */
/** @typedef {import('./protocol.js').ModelFacts} ModelFacts */
/** @typedef {import('./protocol.js').OpenedModel} OpenedModel */
/** @typedef {import('./protocol.js').RequestEvent} RequestEvent */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */

export class ModelLoading {
  #store;
  #worker;
  /** @type {'no' | 'under way' | 'gives way'} the loading that nobody has asked for today */
  #restoring = 'no';

  /**
   * @param {Store} store
   * @param {WorkerClient} worker
   */
  constructor(store, worker) {
    this.#store = store;
    this.#worker = worker;
  }

  /** Asks which models are kept here and which the server offers. */
  async refreshShelf() {
    const shelf = await this.#worker.request('store.list', {}).reply.catch(() => null);
    if (!shelf) return; // The worker is gone, which has been said.
    this.#store.update({ shelf: { kind: 'known', ...shelf } });
    if (shelf.storage !== 'memory') return;
    const text = 'This browser refuses storage; a model stays until the tab closes.';
    this.#store.say('storage', { level: 'info', code: 'storage_refused', text });
  }

  /** Loads the model of the last visit again, if it is still kept here. */
  async loadLast() {
    this.#restoring = 'under way';
    const { id, reply } = this.#worker.request('store.open_last', {}, { onEvent: this.#follow });
    const opening = reply.then(({ opened, last }) => {
      this.#store.update({ engineWish: last.engine });
      return { ...opened, known_checksum: last.known_checksum };
    });
    await this.#load('The model of the last visit', { id, reply: opening }).finally(() => {
      this.#restoring = 'no';
    });
  }

  /** @param {{sha256: string, label: string}} entry */
  async loadModel({ sha256, label }) {
    if (this.#restoring !== 'no') await this.#giveWay();
    if (!this.#mayLoad()) return;
    const onEvent = this.#follow;
    await this.#load(label, this.#worker.request('store.open', { sha256 }, { onEvent }));
  }

  /** @param {File} file */
  async openFile(file) {
    if (this.#restoring !== 'no') await this.#giveWay();
    if (!this.#mayLoad()) return;
    const { name } = file;
    const onEvent = this.#follow;
    const opening = this.#worker.request('store.import', { name }, { onEvent, file });
    const facts = await this.#load(name, opening);
    if (facts?.checksum !== 'not verifiable') return;
    const text = `The checksum in ${facts.name} cannot be verified. Compare its sha256 with the one its source states.`;
    this.#store.say('model', { level: 'info', code: 'checksum_not_verifiable', text });
  }

  async cancelLoading() {
    const { loading } = this.#store.state.model;
    if (loading) await this.#worker.request('cancel', { target: loading.request }).reply;
  }

  /**
   * Ends the worker, because the memory of a running Python never gets smaller; the page stays.
   */
  async freeModel() {
    if (!this.#mayLoad('free it')) return;
    this.#worker.request('store.remember', { model: null });
    try {
      const { heap_bytes: before } = await this.#worker.request('runtime.facts', {}).reply;
      await this.#worker.request('model.free', {}).reply;
      this.#worker.restart(new CodedError('model_freed', 'The model was freed.'));
      this.#store.update({ freed: { before, after: null }, memoryPlan: null });
      const { heap_bytes: after } = await this.#worker.request('runtime.facts', {}).reply;
      this.#store.update({ freed: { before, after } });
    } catch (thrown) {
      const { code, message } = coded(thrown);
      if (code !== 'worker_lost') this.#store.say('model', { code, text: message });
    }
  }

  /** @param {{sha256: string, label: string}} entry */
  async removeModel({ sha256, label }) {
    await this.#worker.request('store.remove', { sha256 }).reply;
    const text = `${label} was removed from this browser.`;
    this.#store.say('model', { level: 'info', code: 'model_removed', text });
    await this.refreshShelf();
  }

  /**
   * Opens verified bytes, hands them to Python, and keeps a chosen file that Python accepts.
   * @param {string} name
   * @param {{id: number, reply: Promise<OpenedModel & {known_checksum?: Checksum}>}} opening
   * @returns {Promise<ModelFacts | null>} null when it failed, which has been said
   */
  async #load(name, opening) {
    this.#store.unsay(['model', 'busy', 'storage', 'engine_wish']);
    this.#showLoading(name, opening.id);
    const onEvent = this.#follow;
    try {
      const opened = await opening.reply;
      const payload = { ...opened, ...this.#store.state.engineWish };
      const planning = this.#worker.request('model.plan', payload);
      const loading = this.#worker.request('model.load', payload, { onEvent });
      this.#showLoading(opened.name, loading.id);
      // A file without a plan is refused by the load, too, with the same sentence.
      planning.reply.then(
        (memoryPlan) => this.#store.update({ memoryPlan, freed: null }),
        () => {},
      );
      if (this.#restoring === 'gives way') this.cancelLoading();
      const facts = await loading.reply;
      this.#showLoaded(facts);
      this.#remember(facts, opened.name);
      await this.#worker.request('store.keep', { sha256: opened.sha256 }, { onEvent }).reply;
      return facts;
    } catch (thrown) {
      this.#showFailure(name, thrown);
      return null;
    } finally {
      this.refreshShelf();
    }
  }

  /**
   * @param {ModelFacts} facts
   * @param {string} label
   */
  #remember({ sha256, checksum }, label) {
    const engine = this.#store.state.engineWish;
    const model = { sha256, label, engine, known_checksum: checksum };
    this.#worker.request('store.remember', { model });
  }

  /** What a person asks for comes before what was only loaded again. */
  async #giveWay() {
    if (this.#restoring === 'under way') {
      this.#restoring = 'gives way';
      await this.cancelLoading();
    }
    await this.#store.until(({ model }) => this.#restoring === 'no' || !model.loading);
  }

  /**
   * @param {string} [aim] what is to be done after a running answer
   * @returns {boolean} whether the model may be changed now; says why not
   */
  #mayLoad(aim = 'load the other model') {
    const { model, turn } = this.#store.state;
    let text = '';
    if (model.loading) {
      text = `${model.loading.name} is being loaded. Wait for it, or cancel it first.`;
    } else if (turn.kind === 'running') {
      text = `An answer is being written. Stop it first, then ${aim}.`;
    }
    if (text) this.#store.say('busy', { code: 'busy', text });
    return text === '';
  }

  /** @param {RequestEvent} event */
  #follow = (event) => {
    const { model } = this.#store.state;
    if (event.event === 'notice')
      this.#store.say(topicOf(event.data.code), { ...event.data, level: 'info' });
    if (event.event !== 'progress' || !model.loading) return;
    const loading = { ...model.loading, progress: event.data };
    this.#store.update({ model: { ...model, loading } });
  };

  /**
   * @param {string} name
   * @param {number} request
   */
  #showLoading(name, request) {
    const loading = { name, request, progress: null };
    this.#store.update({ model: { ...this.#store.state.model, loading } });
  }

  /** @param {ModelFacts} facts */
  #showLoaded(facts) {
    this.#store.unsay(['chat', 'busy', 'engine']);
    const kv = { used: facts.kv_bytes_used, total: facts.kv_bytes_total };
    this.#store.update({ model: { facts, loading: null }, kv });
  }

  /**
   * @param {string} name
   * @param {unknown} thrown
   */
  #showFailure(name, thrown) {
    const { code, message } = coded(thrown);
    const level = code === 'cancelled' ? 'info' : 'error';
    this.#store.unsay(['busy']);
    this.#store.update({ model: { ...this.#store.state.model, loading: null } });
    if (code === 'worker_lost') return; // Said once, for everything that was under way.
    if (this.#restoring !== 'no' && ['not_kept', 'cancelled'].includes(code)) return;
    this.#store.say('model', { level, code, text: `${name}: ${message}` });
  }
}

/**
 * @param {string} code
 * @returns {import('./store.js').Topic}
 */
function topicOf(code) {
  return code.endsWith('_fallback') ? 'engine_wish' : 'storage';
}
