/**
 * What crosses between page and worker, as types, with the closed lists of kinds and events.
 *
 *   page -> worker   request {v, id, kind, payload}
 *   worker -> page   event   {v, id, event, data}             zero or more for each request
 *   worker -> page   reply   {v, id, ok: true, value}         then exactly one of these
 *                            {v, id, ok: false, error: {code, message, details}}
 *
 * Every message is a JSON string, with one exception: `store.import` arrives as
 * {json, file}, because a file cannot be put into text. Event id 0 belongs to the worker itself.
 * Kinds in PYTHON_KINDS are answered by py_core.bridge (py_core/bridge/messages.py is their source),
 * kinds in STORE_KINDS by the worker's JavaScript; `cancel` reaches both.
 */

export const PROTOCOL_VERSION = 1;

export const WORKER_ID = 0;

export const PYTHON_KINDS = Object.freeze([
  'model.load',
  'model.plan',
  'model.free',
  'chat.send',
  'chat.reset',
  'plan.record',
  'receipt.export',
  'cancel',
  'runtime.facts',
  'memory.list',
  'memory.show',
  'memory.preview',
  'memory.apply',
  'memory.export',
  'memory.import',
  'memory.erase',
  'memory.startup',
]);

export const STORE_KINDS = Object.freeze([
  'store.list',
  'store.open',
  'store.import',
  'store.keep',
  'store.remove',
]);

export const PYTHON_EVENTS = Object.freeze(['progress', 'plan', 'token', 'notice', 'memory']);

export const WORKER_EVENTS = Object.freeze(['boot', 'ready', 'failed', 'progress', 'notice']);

/** @typedef {Record<string, never>} Nothing */

/**
 * @typedef {object} GenerationSettings
 * @property {number} temperature
 * @property {number} top_k
 * @property {number} top_p
 * @property {number} max_tokens
 * @property {number} seed
 */

/**
 * A model file that the worker has opened and whose sha256 it has verified.
 * @typedef {object} OpenedModel
 * @property {string} handle
 * @property {string} name
 * @property {number} file_bytes
 * @property {string} sha256
 * @property {'slm' | 'gguf'} format
 */

/**
 * Which engine a model is loaded for.
 * @typedef {object} EngineWish
 * @property {'auto' | 'numpy' | 'simd'} op_set
 * @property {'f32' | 'int16' | 'int8'} kv_cache
 */

/** @typedef {OpenedModel & EngineWish} ModelLoadPayload */

/**
 * What loading a model would take, and what the memory would be then; all in bytes.
 * @typedef {object} ModelPlan
 * @property {string} name
 * @property {string} op_set
 * @property {'f32' | 'int16' | 'int8'} kv_cache
 * @property {number} weight_bytes
 * @property {number} tokenizer_bytes
 * @property {number} kv_bytes_first
 * @property {number} kv_bytes_total
 * @property {number} scratch_bytes_first
 * @property {number} scratch_bytes
 * @property {number} load_bytes
 * @property {number} heap_bytes
 * @property {number} heap_bytes_after
 * @property {number} heap_bytes_full
 * @property {number} limit_bytes
 * @property {boolean} fits
 */

/** @typedef {{name: string, text: string}} AttachedText foreign text, quoted and never obeyed */

/**
 * @typedef {{text: string, system: string, attachments: readonly AttachedText[],
 *   settings: GenerationSettings}} ChatSendPayload
 */

/** @typedef {{kind: string, vocab_size: number, identity: string}} TokenizerFacts */

/**
 * @typedef {object} ModelFacts
 * @property {string} name
 * @property {number} context_tokens
 * @property {number} prompt_limit_tokens
 * @property {number} output_limit_tokens
 * @property {number} kv_bytes_per_token
 * @property {number} kv_bytes_total
 * @property {number} kv_bytes_used
 * @property {number} file_bytes
 * @property {number} parameters
 * @property {string} dtype
 * @property {TokenizerFacts} tokenizer
 * @property {string} sha256
 * @property {'verified' | 'not verifiable'} checksum
 * @property {string} op_set
 * @property {'f32' | 'int16' | 'int8'} kv_cache
 * @property {number} threads that share the work; settled in the first answer
 * @property {number} heap_bytes
 * @property {string} licence
 * @property {string} origin
 * @property {'chatml' | 'plain'} chat_template
 */

/**
 * @typedef {object} TurnResult
 * @property {'end' | 'length' | 'context' | 'stopped'} finish_reason
 * @property {string} text
 * @property {number} prompt_tokens
 * @property {number} generated_tokens
 * @property {number} reused_tokens
 * @property {number} prefill_ms
 * @property {number} decode_ms
 * @property {number} prefill_tokens_per_s
 * @property {number} decode_tokens_per_s
 * @property {readonly number[]} output_ids
 * @property {number} kv_bytes_used
 * @property {number} kv_bytes_total
 * @property {number} threads
 * @property {number} heap_bytes
 */

/**
 * A record that entered the prompt; nodes and frames add up to the prompt.
 * @typedef {object} PlanNode
 * @property {number} position
 * @property {string} record_id
 * @property {string} kind
 * @property {string} envelope_hash
 * @property {number} tier
 * @property {string} lane
 * @property {number} token_cost
 * @property {string} rendering_template
 * @property {string} level
 * @property {number} score
 * @property {readonly string[]} provenance
 * @property {readonly string[]} flags
 * @property {string} text
 */

/**
 * Tokens of the compiler's own.
 * @typedef {object} PlanFrame
 * @property {number} position
 * @property {string} name
 * @property {number} tier
 * @property {number} token_cost
 * @property {string} text
 */

/**
 * A record that stayed out.
 * @typedef {object} Exclusion
 * @property {string} record_id
 * @property {string} kind
 * @property {string} envelope_hash
 * @property {number | null} tier
 * @property {string} step
 * @property {string} reason
 * @property {readonly string[]} superseded_by
 */

/**
 * A segment of the budget's stacked bar; all of them add up to the context.
 * @typedef {object} BudgetBar
 * @property {string} name
 * @property {number | null} tier
 * @property {number} tokens
 */

/**
 * @typedef {object} Allowance
 * @property {string} model_class
 * @property {number} context_tokens
 * @property {number} prompt_limit_tokens
 * @property {number} output_reserve_tokens
 * @property {number} guard_tokens
 * @property {number} guard_kept_tokens
 * @property {number} allowed_tokens
 * @property {number} core_limit_tokens
 * @property {number} core_tokens
 * @property {number} history_budget_tokens
 * @property {number} history_tokens
 * @property {number} memory_budget_tokens
 * @property {number} memory_frame_tokens
 * @property {number} memory_rows_budget_tokens
 * @property {number} memory_tokens
 * @property {number} prompt_tokens
 * @property {readonly string[]} account
 * @property {readonly BudgetBar[]} bars
 */

/**
 * @typedef {object} Plan
 * @property {string} plan_version
 * @property {string} plan_hash
 * @property {string} policy_version
 * @property {string} policy_identity
 * @property {string} model_identity
 * @property {string} tokenizer_identity
 * @property {string} template
 * @property {string} compiled_at
 * @property {number} token_allowance
 * @property {string} truncation_mode
 * @property {string} memory_status
 * @property {string} generation
 * @property {Allowance} allowance
 * @property {readonly PlanNode[]} nodes
 * @property {readonly PlanFrame[]} frames
 * @property {readonly Exclusion[]} exclusions
 * @property {readonly {kind: string, slot: string, winner_id: string, loser_ids: readonly string[],
 *   resolution: string, updates_ledger: boolean}[]} conflicts
 * @property {readonly {kept_id: string, suppressed_ids: readonly string[]}[]} duplicates
 * @property {readonly {kind: string, record_ids: readonly string[], effect: string}[]
 *   } graph_findings
 * @property {{route: string, need_ppm: number, threshold_ppm: number,
 *   signs: readonly string[]} | null} routing
 * @property {{mark: string, draws: number, is_used: boolean}} boundary
 * @property {readonly {lane: string, status: string, candidates: number}[]} lanes
 * @property {string} prompt_hash
 * @property {readonly number[]} prompt_ids
 */

/**
 * A record as it was before the compiler looked at it; kinds differ in their payload.
 * @typedef {{record_id: string, kind: string, payload: Readonly<Record<string, unknown>>,
 *   [field: string]: unknown}} PlanRecord
 */

/** @typedef {{record: PlanRecord, envelope_hash: string}} RecordShown */

/** @typedef {'receipt' | 'plan' | 'request'} PlanDocument */

/** @typedef {{document: PlanDocument, file_name: string, text: string}} ExportedFile */

/**
 * @typedef {object} RuntimeFacts
 * @property {number} protocol
 * @property {string} version
 * @property {string} python
 * @property {string} numpy
 * @property {readonly string[]} op_sets
 * @property {number} heap_bytes
 * @property {'empty' | 'loading' | 'ready' | 'busy'} state
 * @property {ModelFacts | null} model
 */

/**
 * A model that can be loaded: kept in this browser, offered by the server, or both.
 * @typedef {object} ShelfEntry
 * @property {string} sha256
 * @property {string} label
 * @property {number} file_bytes
 * @property {boolean} is_stored
 * @property {boolean} is_served
 */

/**
 * @typedef {object} Shelf
 * @property {'origin_private' | 'cache' | 'memory'} storage
 * @property {boolean} is_server_reached
 * @property {readonly ShelfEntry[]} models
 */

/**
 * Kind, payload and value of each request, tied together.
 * @typedef {{
 *   'model.load': {payload: ModelLoadPayload, value: ModelFacts},
 *   'model.plan': {payload: ModelLoadPayload, value: ModelPlan},
 *   'model.free': {payload: Nothing, value: {was_loaded: boolean, heap_bytes: number}},
 *   'chat.send': {payload: ChatSendPayload, value: TurnResult},
 *   'chat.reset': {payload: Nothing, value: ContextReset},
 *   'plan.record': {payload: {plan_hash: string, record_id: string}, value: RecordShown},
 *   'receipt.export': {payload: {plan_hash: string, document: PlanDocument}, value: ExportedFile},
 *   'cancel': {payload: {target: number}, value: CancelOutcome},
 *   'runtime.facts': {payload: Nothing, value: RuntimeFacts},
 *   'store.list': {payload: Nothing, value: Shelf},
 *   'store.open': {payload: {sha256: string}, value: OpenedModel},
 *   'store.import': {payload: {name: string}, value: OpenedModel},
 *   'store.keep': {payload: {sha256: string}, value: {is_kept: boolean}},
 *   'store.remove': {payload: {sha256: string}, value: {was_stored: boolean}},
 * } & import('./memory_protocol.js').MemoryCalls} Calls
 */

/** @typedef {{turns_dropped: number, cached_tokens_dropped: number}} ContextReset */

/** @typedef {{target: number, outcome: 'stopping' | 'not_running'}} CancelOutcome */

/** @typedef {keyof Calls} Kind */

/** @typedef {{step: string, done: number, total: number, text: string}} ProgressData */

/** @typedef {{code: string, message: string, details?: Record<string, unknown>}} ErrorBody */

/**
 * @typedef {{event: 'progress', data: ProgressData}
 *   | {event: 'plan', data: {plan: Plan}}
 *   | {event: 'token', data: {text: string, ids: readonly number[]}}
 *   | {event: 'notice', data: {code: string, text: string}}
 *   | {event: 'memory', data: import('./memory_protocol.js').MemoryHint}} RequestEvent
 */

/**
 * @typedef {{event: 'boot', data: ProgressData}
 *   | {event: 'ready', data: {text: string}}
 *   | {event: 'failed', data: ErrorBody}
 *   | {event: 'notice', data: {code: string, text: string}}} OwnEvent
 */

/** @typedef {{v: number, id: number, kind: string, payload: unknown}} RequestMessage */

/** @typedef {{v: number, id: number} & (RequestEvent | OwnEvent)} EventMessage */

/**
 * @typedef {{v: number, id: number} & ({ok: true, value: unknown} | {ok: false, error: ErrorBody})} ReplyMessage
 */
