/**
 * What a person can do with the memory: look, search, propose a change, agree to it, move it, erase it.
 * Takes the store and the worker client. Every change is shown before it is made; other tabs are
 * told when it was. Does not touch the DOM.
 */

import { coded } from './coded_error.js';

/** @typedef {import('./memory_protocol.js').GroupName} GroupName */
/** @typedef {import('./memory_protocol.js').MemoryChange} MemoryChange */
/** @typedef {import('./memory_protocol.js').MemoryHint} MemoryHint */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./store.js').MemoryState} MemoryState */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */

const PAGE_ROWS = 50;
const EXPORT_NAME = 'tinyloom-memory.jsonl';
const CHANNEL = 'tinyloom-memory';
const TURN = /^turn-\d+-user@/;
const FOREVER = Object.freeze({ rule: /** @type {const} */ ('forever'), until: '' });

export class MemoryBook {
  #saveFile;
  #store;
  #worker;
  #channel = new BroadcastChannel(CHANNEL);
  /** @type {MemoryState['problem']} why the last reading failed */
  #unread = null;

  /**
   * @param {Store} store
   * @param {WorkerClient} worker
   * @param {(name: string, text: string) => void} saveFile
   */
  constructor(store, worker, saveFile) {
    this.#saveFile = saveFile;
    this.#store = store;
    this.#worker = worker;
    this.#channel.onmessage = () => {
      if (this.#state.is_open) this.refresh();
    };
  }

  open() {
    this.#update({ is_open: true });
    this.refresh();
    this.readStartup();
  }

  close() {
    this.#update({ is_open: false, proposal: null, detail: null });
  }

  /** Lists again what is asked for, as far as it is shown. */
  refresh() {
    return this.#look(async () => {
      const page = await this.#worker.request('memory.list', this.#state.ask).reply;
      this.#update({ page });
    });
  }

  /** @param {string} search */
  search(search) {
    this.#update({ ask: { ...this.#state.ask, search, limit: PAGE_ROWS } });
    return this.refresh();
  }

  /**
   * @param {GroupName} group
   * @param {string} value empty for all
   */
  filter(group, value) {
    const { ask } = this.#state;
    this.#update({
      ask: { ...ask, filters: { ...ask.filters, [group]: value }, limit: PAGE_ROWS },
    });
    return this.refresh();
  }

  showMore() {
    const { ask } = this.#state;
    this.#update({ ask: { ...ask, limit: Math.min(ask.limit + PAGE_ROWS, 500) } });
    return this.refresh();
  }

  /** @param {string} record_id */
  show(record_id) {
    return this.#attempt(async () => {
      const detail = await this.#worker.request('memory.show', { record_id }).reply;
      this.#update({ detail });
    });
  }

  /**
   * Shows what a change would do.
   * @param {MemoryChange} change
   */
  propose(change) {
    return this.#attempt(async () => {
      const report = await this.#worker.request('memory.preview', { change }).reply;
      this.#update({ proposal: { change, report } });
    });
  }

  /**
   * @param {string} text
   * @param {readonly string[]} [sources] the messages it comes from
   * @param {import('./memory_protocol.js').Keep} [keep]
   */
  proposeToRemember(text, sources = [], keep = FOREVER) {
    return this.propose({ action: 'remember', text, sources, subject: '', keep, blacken: true });
  }

  /**
   * Proposes to keep a message, under its own name as the source: what is taken back takes along
   * what was kept of it.
   * @param {number} id
   */
  rememberMessage(id) {
    const { messages } = this.#store.state;
    const place = messages.findIndex((message) => message.id === id);
    const message = messages[place];
    if (!message || message.role === 'divider') return;
    const answer = message.role === 'assistant' ? message : messages[place + 1];
    const source = answer?.role === 'assistant' ? nameMessage(answer.plan, message.role) : null;
    this.open();
    this.proposeToRemember(message.text, source ? [source] : []);
  }

  /** Makes the change that is shown. */
  agree() {
    const { proposal } = this.#state;
    if (!proposal) return Promise.resolve();
    return this.#attempt(async () => {
      // Firefox asks the person, who need not answer; the memory does not wait for that.
      navigator.storage?.persist?.().catch(() => false);
      const { change } = proposal;
      const report = await this.#worker.request('memory.apply', { change }).reply;
      this.#update({ proposal: null, detail: null, last: report });
      this.#changed();
    });
  }

  decline() {
    this.#update({ proposal: null });
  }

  /**
   * Drafts a summary of the conversation and shows it; nothing is kept by it.
   * @param {'rule' | 'model'} mode
   */
  summarise(mode) {
    return this.#attempt(async () => {
      const { id, reply } = this.#worker.request('memory.summarise', { mode });
      this.#update({ summarising: id });
      try {
        const { draft_id, report } = await reply;
        this.#update({ proposal: { change: { action: 'keep_summary', draft_id }, report } });
      } finally {
        this.#update({ summarising: null });
      }
    });
  }

  stopSummary() {
    const { summarising } = this.#state;
    if (summarising !== null) this.#worker.request('cancel', { target: summarising });
  }

  exportFile() {
    return this.#attempt(async () => {
      const { text } = await this.#worker.request('memory.export', {}).reply;
      this.#saveFile(EXPORT_NAME, text);
    });
  }

  /** @param {import('./memory_protocol.js').StartupFile} file */
  downloadStartup({ path, text }) {
    this.#saveFile(path.replace('.uai/', ''), text);
  }

  /** @param {File} file */
  importFile(file) {
    return this.#attempt(async () => {
      const payload = { text: await file.text(), is_preview: false };
      const imported = await this.#worker.request('memory.import', payload).reply;
      this.#update({ imported });
      this.#changed();
    });
  }

  eraseEverything() {
    return this.#attempt(async () => {
      await this.#worker.request('memory.erase', {}).reply;
      this.#update({ detail: null, proposal: null, last: null, imported: null });
      this.#changed();
      await this.readStartup();
    });
  }

  /** @param {readonly File[]} files each has the name of its place among the start-up files */
  importStartup(files) {
    return this.#attempt(async () => {
      for (const file of files) {
        const write = { path: `.uai/${file.name}`, text: await file.text() };
        const startup = await this.#worker.request('memory.startup', { write }).reply;
        this.#update({ startup });
      }
    });
  }

  /** Reads the start-up files as they are kept. */
  readStartup() {
    return this.#look(async () => {
      const startup = await this.#worker.request('memory.startup', { write: null }).reply;
      this.#update({ startup });
    });
  }

  /** @param {{path: string, text: string}} write */
  writeStartup(write) {
    return this.#attempt(async () => {
      const startup = await this.#worker.request('memory.startup', { write }).reply;
      this.#update({ startup });
    });
  }

  /**
   * Follows what a message means for the memory.
   * @param {MemoryHint} hint
   */
  takeHint({ command, text, message_id, pending, record_id }) {
    if (command === 'unavailable') this.#store.say('memory', { code: 'storage_lost', text });
    else if (command === 'correct') this.#offer(record_id, text);
    else if (command === 'none') this.#sayPending(pending.length);
    else this.#takeCommand(command, text, message_id);
  }

  /**
   * @param {'remember' | 'forget_last' | 'forget_about'} command
   * @param {string} text
   * @param {string} message_id
   */
  #takeCommand(command, text, message_id) {
    this.open();
    if (command === 'remember') this.proposeToRemember(text, [message_id]);
    if (command === 'forget_about') this.search(text);
    if (command === 'forget_last') {
      const target_id = previousMessage(message_id);
      if (target_id) this.propose({ action: 'retract', target_id, text: '', since: 0 });
    }
  }

  /**
   * A memory that the message overrides is left as it is unless the user wants it otherwise.
   * @param {string} record_id
   * @param {string} words
   */
  #offer(record_id, words) {
    this.#update({ offer: { record_id, text: words } });
    const text = `A memory says otherwise than this message (“${words}”). For this answer the message counts.`;
    const content = { level: /** @type {const} */ ('info'), code: 'memory_overridden', text };
    this.#store.say('memory', { ...content, action: 'correct' });
  }

  /** Proposes to put the words of the message in the place of the memory. */
  correctByOffer() {
    const { offer } = this.#state;
    if (!offer) return;
    this.#store.unsay(['memory']);
    this.open();
    this.propose({ action: 'correct', ...offer, blacken: true });
  }

  /** @param {number} count */
  #sayPending(count) {
    const what = count === 1 ? 'One suggestion waits' : `${count} suggestions wait`;
    const text = `${what} in the memory; nothing is used before you confirm it.`;
    this.#store.say('memory', { code: 'pending_review', text, level: 'info' });
  }

  #changed() {
    this.#channel.postMessage('changed');
    return this.refresh();
  }

  get #state() {
    return this.#store.state.memory;
  }

  /** @param {Partial<MemoryState>} patch */
  #update(patch) {
    this.#store.update({ memory: { ...this.#state, ...patch } });
  }

  /**
   * Reads again what is shown; that it succeeds is no answer to what a person has asked for.
   * @param {() => Promise<void>} read
   */
  async #look(read) {
    try {
      await read();
      if (this.#unread && this.#state.problem === this.#unread) this.#update({ problem: null });
    } catch (thrown) {
      this.#unread = describe(thrown);
      this.#update({ problem: this.#unread });
    }
  }

  /** @param {() => Promise<void>} act */
  async #attempt(act) {
    try {
      await act();
      this.#update({ problem: null });
    } catch (thrown) {
      this.#update({ problem: describe(thrown) });
    }
  }
}

/** @param {unknown} thrown */
function describe(thrown) {
  const { code, message } = coded(thrown);
  return { code, text: message };
}

/**
 * The name of a message of a turn, read from the plan of its answer; null without one.
 * @param {import('./store.js').Plan | null} plan
 * @param {'user' | 'assistant'} role
 */
function nameMessage(plan, role) {
  const asked = plan?.nodes.find(({ tier, record_id }) => tier === 2 && TURN.test(record_id));
  return asked ? asked.record_id.replace('-user@', `-${role}@`) : null;
}

/**
 * The message before a message, by the number in its name; null for the first one.
 * @param {string} message_id
 */
function previousMessage(message_id) {
  const number = Number(/^turn-(\d+)-/.exec(message_id)?.[1] ?? 0);
  return number > 1 ? message_id.replace(/^turn-\d+/, `turn-${number - 1}`) : null;
}
