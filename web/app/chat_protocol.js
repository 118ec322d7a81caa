/**
 * The messages of a turn, as types; py_core/bridge/chat_messages.py and TurnResult in messages.py
 * are their source.
 */

/**
 * How keys and values may be reused. `splice_approximate` moves them, which changes answers;
 * `kv_check` measures by how much, at the cost of a prefill.
 * @typedef {{kv_reuse: 'prefix' | 'splice_approximate', kv_check: boolean}} ReuseWish
 */

/**
 * @typedef {{text: string, system: string, replaces_last: boolean,
 *   attachments: readonly import('./protocol.js').AttachedText[],
 *   settings: import('./protocol.js').GenerationSettings,
 *   intent: import('./retrieval_protocol.js').Correction | null} & ReuseWish} ChatSendPayload
 */

/**
 * What was reused besides the common beginning.
 * @typedef {object} ReuseReport
 * @property {number} restored_tokens that an earlier visit had read
 * @property {'' | 'unreadable' | 'damaged' | 'foreign' | 'no_memory'} prefix_discarded
 * @property {number} spliced_tokens
 * @property {boolean} is_splice_refused
 * @property {{logit_difference: number, first_changed_token: number | null, tokens: number} | null
 *   } drift
 */

/**
 * @typedef {object} TurnResult
 * @property {'end' | 'length' | 'context' | 'stopped' | 'halted'} finish_reason
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
 * @property {ReuseReport} reuse
 */

export {};
