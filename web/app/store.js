/**
 * The page's one state object.
 * Takes patches, tells the watchers whose slice changed. Slices are replaced, never mutated, so
 * identity says whether something changed. Does not know views, worker or messages.
 */

/** @typedef {import('./protocol.js').EngineWish} EngineWish */
/** @typedef {import('./protocol.js').ModelFacts} ModelFacts */
/** @typedef {import('./protocol.js').ModelPlan} ModelPlan */
/** @typedef {import('./protocol.js').Plan} Plan */
/** @typedef {import('./protocol.js').ProgressData} ProgressData */
/** @typedef {import('./protocol.js').TurnResult} TurnResult */

/**
 * @typedef {{kind: 'booting', progress: ProgressData}
 *   | {kind: 'ready', took_ms: number, image: 'used' | 'none' | 'refused'}
 *   | {kind: 'failed', code: string, text: string}} BootState
 */

/** @typedef {{kind: 'asking'} | ({kind: 'known'} & import('./store_protocol.js').Shelf)} ShelfState */

/**
 * A loaded model stays in `facts` while another one loads.
 * @typedef {object} ModelState
 * @property {ModelFacts | null} facts
 * @property {{name: string, request: number, progress: ProgressData | null} | null} loading
 */

/**
 * A turn without a request waits for the model that is being loaded.
 * @typedef {{kind: 'idle'}
 *   | {kind: 'running', request: number | null, message: number, progress: ProgressData | null, is_stopping: boolean}} TurnState
 */

/**
 * @typedef {{id: number, role: 'user', text: string, is_forgotten: boolean, attachments: readonly string[]}
 *   | {id: number, role: 'assistant', text: string, is_forgotten: boolean, name: string, is_streaming: boolean, result: TurnResult | null, plan: Plan | null, retrieval: import('./retrieval_protocol.js').Retrieval | null}
 *   | {id: number, role: 'divider', text: string}} ChatMessage
 */

/** @typedef {{id: number} & import('./protocol.js').AttachedText} Attached text that goes with the next message */

/**
 * @typedef {{kind: 'none'}
 *   | {kind: 'asking', record_id: string}
 *   | ({kind: 'shown', record_id: string} & import('./protocol.js').RecordShown)
 *   | {kind: 'refused', record_id: string, text: string}} RecordState
 */

/**
 * The plan that is looked at: that of one answer, with one of its records.
 * @typedef {{kind: 'closed'}
 *   | {kind: 'open', message: number, record: RecordState, note: string}} PlanViewState
 */

/**
 * What the message being written looks for, and what the user changes in it.
 * @typedef {object} RecallState
 * @property {boolean} is_open
 * @property {string} text the message as it stands
 * @property {import('./retrieval_protocol.js').Intent | null} intent
 * @property {import('./retrieval_protocol.js').Correction | null} correction
 * @property {string | null} problem
 */

/** @typedef {{before: number, after: number | null}} FreedState the heap, in bytes, around freeing a model */

/**
 * @typedef {object} MemoryState
 * @property {boolean} is_open
 * @property {import('./memory_protocol.js').MemoryListAsk} ask
 * @property {import('./memory_protocol.js').MemoryPage | null} page
 * @property {import('./memory_protocol.js').MemoryDetail | null} detail
 * @property {{change: import('./memory_protocol.js').MemoryChange, report: import('./memory_protocol.js').ChangeReport} | null} proposal
 * @property {import('./memory_protocol.js').ChangeReport | null} last
 * @property {import('./memory_protocol.js').ImportReport | null} imported
 * @property {import('./memory_protocol.js').StartupState | null} startup
 * @property {number | null} summarising the request that writes a summary
 * @property {{record_id: string, text: string} | null} offer what the last message overrides
 * @property {{code: string, text: string} | null} problem
 */

/**
 * @typedef {object} EmbedderState
 * @property {boolean | null} is_wanted null until the earlier choice is known
 * @property {'off' | 'loading' | 'ready' | 'failed'} stage
 * @property {import('./embedder_protocol.js').EmbedderFacts | null} facts
 * @property {string} problem
 */

/**
 * What a sentence is about; a newer one about the same thing takes its place.
 * @typedef {'engine' | 'engine_wish' | 'model' | 'chat' | 'busy' | 'storage' | 'version' | 'memory' | 'embedder'} Topic
 */

/**
 * @typedef {object} Notice
 * @property {number} id
 * @property {Topic} topic
 * @property {'info' | 'error'} level
 * @property {string} code
 * @property {string} text
 * @property {'restart' | 'reload' | 'correct' | null} action
 */

/**
 * @typedef {{kind: 'checking'} | {kind: 'saving'} | {kind: 'saved'} | {kind: 'unsupported'}
 *   | {kind: 'not_saved', text: string}} OfflineState
 */

/**
 * @typedef {object} PageState
 * @property {BootState} boot
 * @property {OfflineState} offline
 * @property {ShelfState} shelf
 * @property {ModelState} model
 * @property {EngineWish} engineWish the engine of the next load
 * @property {ModelPlan | null} memoryPlan
 * @property {FreedState | null} freed
 * @property {TurnState} turn
 * @property {readonly ChatMessage[]} messages
 * @property {Plan | null} plan
 * @property {PlanViewState} planView
 * @property {readonly Attached[]} attachments
 * @property {TurnResult | null} lastTurn
 * @property {{question: number, answer: number, is_edited: boolean} | null} lastPair the pair that
 *   can be sent anew
 * @property {{used: number, total: number} | null} kv
 * @property {RecallState} recall
 * @property {MemoryState} memory
 * @property {EmbedderState} embedder
 * @property {readonly Notice[]} notices
 * @property {{text: string, system: string, settings: import('./protocol.js').GenerationSettings, reuse: import('./chat_protocol.js').ReuseWish}} draft
 * @property {{text: string, revision: number}} returned text given back to the composer
 */

/** @returns {PageState} */
export function initialState() {
  return {
    boot: { kind: 'booting', progress: { step: 'runtime', done: 0, total: 4, text: 'Starting' } },
    offline: { kind: 'checking' },
    shelf: { kind: 'asking' },
    model: { facts: null, loading: null },
    engineWish: { op_set: 'auto', kv_cache: 'int16' },
    memoryPlan: null,
    freed: null,
    turn: { kind: 'idle' },
    messages: [],
    plan: null,
    planView: { kind: 'closed' },
    attachments: [],
    lastTurn: null,
    lastPair: null,
    kv: null,
    recall: { is_open: false, text: '', intent: null, correction: null, problem: null },
    memory: {
      is_open: false,
      ask: { search: '', filters: {}, offset: 0, limit: 50 },
      page: null,
      detail: null,
      proposal: null,
      last: null,
      imported: null,
      startup: null,
      summarising: null,
      offer: null,
      problem: null,
    },
    embedder: { is_wanted: null, stage: 'off', facts: null, problem: '' },
    notices: [],
    draft: {
      text: '',
      system: '',
      settings: { temperature: 0, top_k: 40, top_p: 1, max_tokens: 256, seed: 1 },
      reuse: { kv_reuse: 'prefix', kv_check: false },
    },
    returned: { text: '', revision: 0 },
  };
}

export class Store extends EventTarget {
  #state;
  #lastId = 0;

  /** @param {PageState} state */
  constructor(state) {
    super();
    this.#state = state;
  }

  get state() {
    return this.#state;
  }

  /** @param {Partial<PageState>} patch */
  update(patch) {
    this.#state = { ...this.#state, ...patch };
    this.dispatchEvent(new Event('change'));
  }

  /**
   * Calls the watcher now and whenever one of its slices is another object than before.
   * @template {keyof PageState} Slice
   * @param {readonly Slice[]} slices
   * @param {(state: PageState) => void} watcher
   */
  watch(slices, watcher) {
    let seen = slices.map((slice) => this.#state[slice]);
    watcher(this.#state);
    this.addEventListener('change', () => {
      const now = slices.map((slice) => this.#state[slice]);
      if (now.every((value, index) => value === seen[index])) return;
      seen = now;
      watcher(this.#state);
    });
  }

  /**
   * Waits until the state is so; at once where it is already.
   * @param {(state: PageState) => boolean} condition
   * @returns {Promise<void>}
   */
  until(condition) {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition(this.#state)) return;
        this.removeEventListener('change', check);
        resolve();
      };
      this.addEventListener('change', check);
      check();
    });
  }

  /** @returns {number} an id for a message or a notice, counted up */
  nextId() {
    this.#lastId += 1;
    return this.#lastId;
  }

  /**
   * Shows a sentence; an earlier one on the same topic gives way.
   * @param {Topic} topic
   * @param {{level?: Notice['level'], code: string, text: string, action?: Notice['action']}} content
   */
  say(topic, { level = 'error', code, text, action = null }) {
    const others = this.#state.notices.filter((notice) => notice.topic !== topic);
    this.update({ notices: [...others, { id: this.nextId(), topic, level, code, text, action }] });
  }

  /** @param {readonly Topic[]} topics */
  unsay(topics) {
    const others = this.#state.notices.filter((notice) => !topics.includes(notice.topic));
    if (others.length < this.#state.notices.length) this.update({ notices: others });
  }
}
