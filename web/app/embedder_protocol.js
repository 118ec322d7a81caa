/**
 * What crosses between page and worker about the embedder, as types.
 * The source is py_core/bridge/embedder_messages.py.
 */

/**
 * @typedef {object} EmbedderFacts
 * @property {'off' | 'loading' | 'ready' | 'failed'} stage
 * @property {'' | 'file_refused' | 'memory_short' | 'stopped'} reason
 * @property {string} text
 * @property {string} name
 * @property {string} op_set
 * @property {number} weight_bytes
 * @property {number} vectors records that have a vector
 * @property {number} missing records that wait for one
 * @property {number} heap_bytes
 */

/** @typedef {{handle: string, name: string, file_bytes: number, sha256: string}} EmbedderLoadPayload */

/**
 * @typedef {{
 *   'embedder.load': {payload: EmbedderLoadPayload, value: EmbedderFacts},
 *   'embedder.free': {payload: Record<string, never>, value: EmbedderFacts},
 *   'embedder.facts': {payload: Record<string, never>, value: EmbedderFacts},
 * }} EmbedderCalls
 */

export {};
