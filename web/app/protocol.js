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
  'model.free',
  'chat.send',
  'chat.reset',
  'cancel',
  'runtime.facts',
]);

export const STORE_KINDS = Object.freeze([
  'store.list',
  'store.open',
  'store.import',
  'store.keep',
  'store.remove',
]);

export const PYTHON_EVENTS = Object.freeze(['progress', 'plan', 'token', 'notice']);

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

/** @typedef {OpenedModel & {op_set: 'auto' | 'numpy' | 'simd'}} ModelLoadPayload */

/** @typedef {{text: string, system: string, settings: GenerationSettings}} ChatSendPayload */

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
 */

/**
 * @typedef {object} PlanRow
 * @property {string} node_id
 * @property {string} kind
 * @property {number} tier
 * @property {string} content_hash
 * @property {number} cost_tokens
 */

/** @typedef {PlanRow & {text_tokens: number}} PlanNode */

/** @typedef {PlanRow & {step: string, reason: string}} Exclusion */

/**
 * @typedef {object} Allowance
 * @property {number} context_tokens
 * @property {number} prompt_limit_tokens
 * @property {number} output_reserve_tokens
 * @property {number} guard_tokens
 * @property {number} guard_kept_tokens
 * @property {number} allowed_tokens
 * @property {number} core_tokens
 * @property {number} history_tokens
 * @property {number} prompt_tokens
 */

/**
 * @typedef {object} Plan
 * @property {string} plan_hash
 * @property {string} policy_version
 * @property {string} model_identity
 * @property {string} tokenizer_identity
 * @property {string} template
 * @property {Allowance} allowance
 * @property {readonly PlanNode[]} nodes
 * @property {readonly Exclusion[]} exclusions
 * @property {readonly number[]} prompt_ids
 */

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
 *   'model.free': {payload: Nothing, value: {was_loaded: boolean, heap_bytes: number}},
 *   'chat.send': {payload: ChatSendPayload, value: TurnResult},
 *   'chat.reset': {payload: Nothing, value: ContextReset},
 *   'cancel': {payload: {target: number}, value: CancelOutcome},
 *   'runtime.facts': {payload: Nothing, value: RuntimeFacts},
 *   'store.list': {payload: Nothing, value: Shelf},
 *   'store.open': {payload: {sha256: string}, value: OpenedModel},
 *   'store.import': {payload: {name: string}, value: OpenedModel},
 *   'store.keep': {payload: {sha256: string}, value: {is_kept: boolean}},
 *   'store.remove': {payload: {sha256: string}, value: {was_stored: boolean}},
 * }} Calls
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
 *   | {event: 'notice', data: {code: string, text: string}}} RequestEvent
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
