/**
 * What a message looks for in memory and what was found, as types; py_core/bridge/
 * retrieval_messages.py is their source. Numbers that end in ppm are millionths.
 */

/** @typedef {'needed' | 'not_needed' | 'off'} Need */

/**
 * What the user changes for one turn; null and empty leave it as it was understood.
 * @typedef {object} Correction
 * @property {Need | null} need
 * @property {string | null} task
 * @property {string | null} text
 * @property {string | null} project
 * @property {readonly string[]} add_terms
 * @property {readonly string[]} remove_terms
 * @property {readonly string[]} pins
 */

/**
 * @typedef {object} Intent
 * @property {Need} need
 * @property {string} reason
 * @property {string} task
 * @property {string} semantic_text
 * @property {readonly string[]} terms
 * @property {readonly string[]} exact
 * @property {readonly string[]} names
 * @property {string} project
 * @property {readonly string[]} lanes
 * @property {readonly string[]} pins
 * @property {readonly {start: string, stop: string}[]} ranges
 * @property {readonly {relation: string, event: string}[]} events
 * @property {boolean} wants_latest
 * @property {boolean} wants_date
 * @property {readonly {expression: string, meaning: string}[]} resolutions
 */

/**
 * @typedef {object} Lane
 * @property {string} lane
 * @property {string} status
 * @property {number} candidates
 * @property {number} took_ms
 * @property {number} limit_ms
 */

/** @typedef {{name: string, weight: number, value_ppm: number}} ScorePart */

/**
 * @typedef {object} Candidate
 * @property {string} record_id
 * @property {string} kind
 * @property {string} lane
 * @property {string} text
 * @property {string} outcome `in_prompt`, or the reason for which it stayed out
 * @property {string} level
 * @property {number | null} tier
 * @property {Readonly<Record<string, number>>} relevance
 * @property {number} relevance_ppm
 * @property {readonly ScorePart[]} parts
 * @property {number} score
 * @property {number} worth
 * @property {boolean} is_new
 */

/**
 * @typedef {object} Stage
 * @property {string} stage
 * @property {number} count
 * @property {number} p50_ms
 * @property {number} p95_ms
 * @property {number} last_ms
 */

/**
 * @typedef {object} Retrieval
 * @property {Intent} intent
 * @property {readonly Lane[]} lanes
 * @property {readonly Candidate[]} candidates
 * @property {number} strength_ppm
 * @property {number} floor_ppm
 * @property {boolean} lexical_only
 * @property {readonly string[]} followed
 * @property {readonly {survivor_id: string, linked_ids: readonly string[]}[]} groups
 * @property {readonly {subject: string, slot: string, record_ids: readonly string[],
 *   is_declared_update: boolean}[]} contradictions
 * @property {number} indexed
 * @property {readonly Stage[]} stages
 */

/**
 * @typedef {{payload: {text: string, system: string, intent: Correction | null},
 *   value: Intent}} PreviewCall
 */

export {};
