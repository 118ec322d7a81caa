/**
 * What a person can do with the plans of the answers: look, open a record, save files.
 * Takes the store, the worker client and ways to save and copy; changes the plan view's state.
 * Refusals are said in the view itself, which covers the page's notices. Does not touch the DOM.
 */

import { coded } from './coded_error.js';

/** @typedef {import('./protocol.js').PlanDocument} PlanDocument */
/** @typedef {import('./store.js').PlanViewState} PlanViewState */
/** @typedef {import('./store.js').RecordState} RecordState */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */
/** @typedef {Extract<PlanViewState, {kind: 'open'}>} OpenView */

/**
 * @typedef {object} Outlets
 * @property {(name: string, text: string) => void} saveFile
 * @property {(text: string) => Promise<void>} copyText
 */

export class PlanDesk {
  #store;
  #worker;
  #outlets;

  /**
   * @param {Store} store
   * @param {WorkerClient} worker
   * @param {Outlets} outlets
   */
  constructor(store, worker, outlets) {
    this.#store = store;
    this.#worker = worker;
    this.#outlets = outlets;
  }

  /** @param {number} message the answer whose plan is wanted */
  open(message) {
    const record = /** @type {const} */ ({ kind: 'none' });
    this.#store.update({ planView: { kind: 'open', message, record, note: '' } });
  }

  /** Opens the plan of the last answer that has one. */
  openNewest() {
    const newest = this.#store.state.messages.findLast(hasPlan);
    if (newest) this.open(newest.id);
  }

  close() {
    this.#store.update({ planView: { kind: 'closed' } });
  }

  /** @param {string} record_id */
  async showRecord(record_id) {
    const plan_hash = this.#findHash();
    if (plan_hash === null) return;
    this.#change({ record: { kind: 'asking', record_id } });
    const found = await this.#ask(plan_hash, record_id);
    // A slow reply must not replace what was chosen after it.
    const { planView } = this.#store.state;
    if (planView.kind === 'open' && isAsking(planView.record, record_id))
      this.#change({ record: found });
  }

  closeRecord() {
    this.#change({ record: { kind: 'none' } });
  }

  /** @param {PlanDocument} document */
  async save(document) {
    const plan_hash = this.#findHash();
    if (plan_hash === null) return;
    try {
      const payload = { plan_hash, document };
      const { file_name, text } = await this.#worker.request('receipt.export', payload).reply;
      this.#outlets.saveFile(file_name, text);
      this.#change({ note: `Saved ${file_name}.` });
    } catch (thrown) {
      this.#change({ note: coded(thrown).message });
    }
  }

  async copyHash() {
    const plan_hash = this.#findHash();
    if (plan_hash === null) return;
    try {
      await this.#outlets.copyText(plan_hash);
      this.#change({ note: 'The plan hash is on the clipboard.' });
    } catch {
      this.#change({ note: 'The browser refused the clipboard. Select the hash and copy it.' });
    }
  }

  /**
   * @param {string} plan_hash
   * @param {string} record_id
   * @returns {Promise<RecordState>}
   */
  async #ask(plan_hash, record_id) {
    try {
      const shown = await this.#worker.request('plan.record', { plan_hash, record_id }).reply;
      return { kind: 'shown', record_id, ...shown };
    } catch (thrown) {
      return { kind: 'refused', record_id, text: coded(thrown).message };
    }
  }

  #findHash() {
    const { planView, messages } = this.#store.state;
    if (planView.kind === 'closed') return null;
    const answer = messages.find(({ id }) => id === planView.message);
    return answer && hasPlan(answer) ? answer.plan.plan_hash : null;
  }

  /** @param {Partial<OpenView>} patch */
  #change(patch) {
    const { planView } = this.#store.state;
    if (planView.kind === 'open') this.#store.update({ planView: { ...planView, ...patch } });
  }
}

/**
 * @param {import('./store.js').ChatMessage} message
 * @returns {message is Extract<import('./store.js').ChatMessage, {role: 'assistant'}> & {plan: import('./store.js').Plan}}
 */
function hasPlan(message) {
  return message.role === 'assistant' && message.plan !== null;
}

/**
 * @param {RecordState} record
 * @param {string} record_id
 */
function isAsking(record, record_id) {
  return record.kind === 'asking' && record.record_id === record_id;
}
