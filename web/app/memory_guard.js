/**
 * Notices that the memory's store is not the one it was, instead of beginning again in silence.
 * Remembers name and revision of the store in another storage of the browser; Python compares.
 * A loss becomes the memory's problem in the store until the person goes on without it.
 */

import { coded } from './coded_error.js';

/** @typedef {import('./memory_protocol.js').MemoryStatus} MemoryStatus */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */

const KEY = 'tinyloom-memory';

export class MemoryGuard {
  #store;
  #worker;
  #is_given_up = false;

  /**
   * @param {Store} store
   * @param {WorkerClient} worker
   */
  constructor(store, worker) {
    this.#store = store;
    this.#worker = worker;
    let revision = -1;
    store.watch(['boot'], ({ boot }) => {
      if (boot.kind === 'ready') this.check();
    });
    store.watch(['memory'], ({ memory: { page } }) => {
      if (!page || page.revision === revision) return;
      revision = page.revision;
      this.check();
    });
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden && store.state.boot.kind === 'ready') this.check();
    });
  }

  async check() {
    if (this.#is_given_up) return;
    try {
      const asked = { ...readMark(), is_accepted: false };
      const status = await this.#worker.request('memory.status', asked).reply;
      if (status.loss) this.#tell(status.warning);
      else writeMark(status);
    } catch (thrown) {
      const { code, message } = coded(thrown);
      // Where nothing was ever kept nothing is lost.
      if (code === 'storage_lost' && readMark().known_revision > 0) this.#tell(message);
    }
  }

  /** Takes the store as it is now; where there is none, nothing more is said about it. */
  async accept() {
    try {
      const asked = { ...readMark(), is_accepted: true };
      writeMark(await this.#worker.request('memory.status', asked).reply);
    } catch {
      this.#is_given_up = true;
    }
    const { memory } = this.#store.state;
    this.#store.update({ memory: { ...memory, problem: null, proposal: null, detail: null } });
  }

  /** @param {string} text */
  #tell(text) {
    const { memory } = this.#store.state;
    this.#store.update({ memory: { ...memory, problem: { code: 'storage_lost', text } } });
  }
}

/** @returns {{known_id: string, known_revision: number}} */
function readMark() {
  try {
    const [known_id = '', revision = '0'] = (localStorage.getItem(KEY) ?? '').split(' ');
    return { known_id, known_revision: Number(revision) || 0 };
  } catch {
    return { known_id: '', known_revision: 0 };
  }
}

/** @param {MemoryStatus} status */
function writeMark({ ledger_id, revision }) {
  try {
    localStorage.setItem(KEY, `${ledger_id} ${revision}`);
  } catch {
    // Without this storage a loss can be told only while the page is open.
  }
}
