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
  'intent.preview',
  'chat.reset',
  'plan.record',
  'receipt.export',
  'cancel',
  'runtime.facts',
  'embedder.load',
  'embedder.free',
  'embedder.facts',
  'memory.list',
  'memory.show',
  'memory.preview',
  'memory.apply',
  'memory.export',
  'memory.import',
  'memory.erase',
  'memory.startup',
  'memory.status',
  'memory.summarise',
]);

export const STORE_KINDS = Object.freeze([
  'store.list',
  'store.open',
  'store.open_last',
  'store.remember',
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

/** @typedef {'verified' | 'not verifiable'} Checksum */

/**
 * With what an earlier load found the checksum of the file with this sha256 to be.
 * @typedef {OpenedModel & EngineWish & {known_checksum?: Checksum | null}} ModelLoadPayload
 */

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
 * @property {number} embedder_bytes
 * @property {number} heap_bytes
 * @property {number} heap_bytes_after
 * @property {number} heap_bytes_full
 * @property {number} limit_bytes
 * @property {boolean} fits
 */

/** @typedef {{name: string, text: string}} AttachedText foreign text, quoted and never obeyed */

/** @typedef {import('./chat_protocol.js').ChatSendPayload} ChatSendPayload */

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
 * @property {Checksum} checksum
 * @property {string} op_set
 * @property {'f32' | 'int16' | 'int8'} kv_cache
 * @property {number} threads that share the work; settled in the first answer
 * @property {number} heap_bytes
 * @property {string} licence
 * @property {string} origin
 * @property {'chatml' | 'plain'} chat_template
 */

/** @typedef {import('./chat_protocol.js').TurnResult} TurnResult */

/** @typedef {import('./plan_protocol.js').PlanNode} PlanNode */
/** @typedef {import('./plan_protocol.js').Exclusion} Exclusion */
/** @typedef {import('./plan_protocol.js').Allowance} Allowance */
/** @typedef {import('./plan_protocol.js').Plan} Plan */

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
 * Kind, payload and value of each request, tied together.
 * @typedef {{
 *   'model.load': {payload: ModelLoadPayload, value: ModelFacts},
 *   'model.plan': {payload: ModelLoadPayload, value: ModelPlan},
 *   'model.free': {payload: Nothing, value: {was_loaded: boolean, heap_bytes: number}},
 *   'chat.send': {payload: ChatSendPayload, value: TurnResult},
 *   'intent.preview': import('./retrieval_protocol.js').PreviewCall,
 *   'chat.reset': {payload: Nothing, value: {turns_dropped: number, cached_tokens_dropped: number}},
 *   'plan.record': {payload: {plan_hash: string, record_id: string}, value: RecordShown},
 *   'receipt.export': {payload: {plan_hash: string, document: PlanDocument}, value: ExportedFile},
 *   'cancel': {payload: {target: number}, value: CancelOutcome},
 *   'runtime.facts': {payload: Nothing, value: RuntimeFacts},
 * } & import('./store_protocol.js').StoreCalls
 *   & import('./memory_protocol.js').MemoryCalls
 *   & import('./embedder_protocol.js').EmbedderCalls} Calls
 */

/** @typedef {{target: number, outcome: 'stopping' | 'not_running'}} CancelOutcome */

/** @typedef {keyof Calls} Kind */

/** @typedef {{step: string, done: number, total: number, text: string}} ProgressData */

/** @typedef {{code: string, message: string, details?: Record<string, unknown>}} ErrorBody */

/**
 * @typedef {{event: 'progress', data: ProgressData}
 *   | {event: 'plan', data: {plan: Plan,
 *       retrieval: import('./retrieval_protocol.js').Retrieval | null}}
 *   | {event: 'token', data: {text: string, ids: readonly number[]}}
 *   | {event: 'notice', data: {code: string, text: string}}
 *   | {event: 'memory', data: import('./memory_protocol.js').MemoryHint}} RequestEvent
 */

/**
 * @typedef {{event: 'boot', data: ProgressData}
 *   | {event: 'ready', data: {text: string, image: 'used' | 'none' | 'refused'}}
 *   | {event: 'failed', data: ErrorBody}
 *   | {event: 'notice', data: {code: string, text: string}}} OwnEvent
 */

/** @typedef {{v: number, id: number, kind: string, payload: unknown}} RequestMessage */

/** @typedef {{v: number, id: number} & (RequestEvent | OwnEvent)} EventMessage */

/**
 * @typedef {{v: number, id: number} & ({ok: true, value: unknown} | {ok: false, error: ErrorBody})} ReplyMessage
 */
