/**
 * What a person can do with models: load, open a file, cancel, remove.
 * Takes the store and the worker client, gives functions for the views. Does not touch the DOM and
 * does not know what is inside a file.
 */

import { coded } from './coded_error.js';

/** @typedef {import('./protocol.js').ModelFacts} ModelFacts */
/** @typedef {import('./protocol.js').OpenedModel} OpenedModel */
/** @typedef {import('./protocol.js').RequestEvent} RequestEvent */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */

/**
 * @param {Store} store
 * @param {WorkerClient} worker
 */
export function makeModelActions(store, worker) {
  /** @param {RequestEvent} event */
  const onEvent = (event) => {
    const { model } = store.state;
    if (event.event === 'progress' && model.loading) {
      store.update({ model: { ...model, loading: { ...model.loading, progress: event.data } } });
    }
    if (event.event === 'notice') store.say('storage', { ...event.data, level: 'info' });
  };

  /**
   * @param {string} name
   * @param {number} request
   */
  const showLoading = (name, request) => {
    const loading = { name, request, progress: null };
    store.update({ model: { ...store.state.model, loading } });
  };

  async function refreshShelf() {
    const shelf = await worker.request('store.list', {}).reply;
    store.update({ shelf: { kind: 'known', ...shelf } });
    if (shelf.storage === 'memory') {
      store.say('storage', {
        level: 'info',
        code: 'storage_refused',
        text: 'This browser refuses storage; a model stays until the tab closes.',
      });
    }
  }

  /**
   * Opens verified bytes, hands them to Python, and keeps a chosen file that Python accepts.
   * @param {string} name
   * @param {{id: number, reply: Promise<OpenedModel>}} opening
   * @returns {Promise<ModelFacts | null>} null when it failed, which has been said
   */
  async function load(name, opening) {
    store.unsay(['model', 'busy']);
    showLoading(name, opening.id);
    try {
      const opened = await opening.reply;
      const loading = worker.request('model.load', { ...opened, op_set: 'auto' }, { onEvent });
      showLoading(opened.name, loading.id);
      const facts = await loading.reply;
      showLoaded(facts);
      await worker.request('store.keep', { sha256: opened.sha256 }, { onEvent }).reply;
      return facts;
    } catch (thrown) {
      const { code, message } = coded(thrown);
      const level = code === 'cancelled' ? 'info' : 'error';
      if (code !== 'worker_lost') store.say('model', { level, code, text: `${name}: ${message}` });
      store.unsay(['busy']);
      store.update({ model: { ...store.state.model, loading: null } });
      return null;
    } finally {
      refreshShelf().catch(() => undefined);
    }
  }

  /** @param {ModelFacts} facts */
  function showLoaded(facts) {
    store.unsay(['chat', 'busy']);
    const kv = { used: facts.kv_bytes_used, total: facts.kv_bytes_total };
    store.update({ model: { facts, loading: null }, kv });
  }

  /** @returns {boolean} whether loading may begin now; says why not */
  function mayLoad() {
    const { model, turn } = store.state;
    if (model.loading) {
      const text = `${model.loading.name} is being loaded. Wait for it, or cancel it first.`;
      store.say('busy', { code: 'busy', text });
    } else if (turn.kind === 'running') {
      const text = 'An answer is being written. Stop it first, then load the other model.';
      store.say('busy', { code: 'busy', text });
    } else {
      return true;
    }
    return false;
  }

  return {
    refreshShelf,

    /** @param {{sha256: string, label: string}} entry */
    async loadModel({ sha256, label }) {
      if (mayLoad()) await load(label, worker.request('store.open', { sha256 }, { onEvent }));
    },

    /** @param {File} file */
    async openFile(file) {
      if (!mayLoad()) return;
      const { name } = file;
      const facts = await load(name, worker.request('store.import', { name }, { onEvent, file }));
      if (facts?.checksum === 'not verifiable') {
        const text = `The checksum in ${facts.name} cannot be verified. Compare its sha256 with the one its source states.`;
        store.say('model', { level: 'info', code: 'checksum_not_verifiable', text });
      }
    },

    async cancelLoading() {
      const { loading } = store.state.model;
      if (loading) await worker.request('cancel', { target: loading.request }).reply;
    },

    /** @param {{sha256: string, label: string}} entry */
    async removeModel({ sha256, label }) {
      await worker.request('store.remove', { sha256 }).reply;
      const text = `${label} was removed from this browser.`;
      store.say('model', { level: 'info', code: 'model_removed', text });
      await refreshShelf();
    },
  };
}
