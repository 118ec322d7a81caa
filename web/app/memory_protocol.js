/**
 * The messages of the memory, as types; py_core/bridge/memory_requests.py and memory_values.py are
 * their source.
 */

/** @typedef {'standing' | 'subject' | 'scope' | 'tier' | 'source' | 'kind'} GroupName */

/** @typedef {{rule: 'forever' | 'session' | 'until', until: string}} Keep */

/**
 * @typedef {{action: 'remember', text: string, sources: readonly string[], subject: string, keep: Keep, blacken: boolean}
 *   | {action: 'confirm', record_id: string}
 *   | {action: 'reject', record_id: string, never: boolean}
 *   | {action: 'correct', record_id: string, text: string, blacken: boolean}
 *   | {action: 'forget', record_ids: readonly string[]}
 *   | {action: 'retract', target_id: string, text: string, since: number}
 *   | {action: 'keep', record_id: string, keep: Keep}
 *   | {action: 'sweep'}
 *   | {action: 'rebuild', record_ids: readonly string[]}
 *   | {action: 'keep_summary', draft_id: string}} MemoryChange
 */

/**
 * @typedef {object} MemoryListAsk
 * @property {string} search
 * @property {Partial<Record<GroupName, string>>} filters
 * @property {number} offset
 * @property {number} limit
 */

/**
 * @typedef {object} MemoryRow
 * @property {string} record_id
 * @property {string} kind
 * @property {'active' | 'pending' | 'withdrawn' | 'superseded' | 'rejected'} standing
 * @property {number | null} tier
 * @property {string} subject
 * @property {string} scope
 * @property {string} source
 * @property {string} observed_at
 * @property {Keep} keep
 * @property {number} confidence_ppm
 * @property {string} text
 * @property {boolean} is_cut
 */

/** @typedef {{used_bytes: number, quota_bytes: number | null, is_persistent: boolean}} StorageFacts */

/**
 * @typedef {object} MemoryPage
 * @property {readonly MemoryRow[]} rows
 * @property {number} total
 * @property {Record<GroupName, Record<string, number>>} groups
 * @property {number} revision
 * @property {StorageFacts} storage
 */

/** @typedef {{begin: string, end: string, kind: 'supersedes' | 'derived_from' | 'deletes' | 'withdrawn_by'}} HistoryEdge */

/**
 * @typedef {object} MemoryDetail
 * @property {string} record_id
 * @property {string} text
 * @property {string} record_json
 * @property {readonly MemoryRow[]} nodes
 * @property {readonly HistoryEdge[]} edges
 * @property {readonly string[]} gone_ids
 * @property {readonly string[]} raw_sources
 * @property {readonly {record_id: string, text: string}[]} raw_turns messages of this conversation
 * @property {readonly {at: string, plan_hash: string}[]} plans
 */

/**
 * @typedef {object} Affected
 * @property {string} record_id
 * @property {string} text
 * @property {'declared' | 'echoed' | 'undeclared'} spread
 * @property {'rebuild' | 'not_rebuildable' | 'not_worth_it' | 'has_no_sources'} verdict
 * @property {number} cost
 * @property {number} value
 * @property {readonly string[]} support what it would be made of
 * @property {readonly string[]} needs the withdrawn records that must come back first
 */

/**
 * How a summary came about.
 * @typedef {object} Lineage
 * @property {string} summariser
 * @property {string} summariser_version
 * @property {string} prompt_policy_hash
 * @property {readonly string[]} omissions
 * @property {number} confidence_ppm
 * @property {readonly string[]} sources
 * @property {readonly string[]} supersedes
 */

/**
 * @typedef {object} ChangeReport
 * @property {boolean} is_made
 * @property {readonly MemoryRow[]} kept
 * @property {readonly {kind: string, begin: number, end: number}[]} secrets
 * @property {readonly MemoryRow[]} contradicts
 * @property {readonly MemoryRow[]} repeats
 * @property {readonly string[]} erased
 * @property {readonly Affected[]} affected
 * @property {readonly (readonly [old_id: string, new_id: string])[]} rebuilt
 * @property {Lineage | null} lineage
 * @property {number} revision
 */

/**
 * @typedef {object} ImportReport
 * @property {boolean} is_made
 * @property {number} added
 * @property {number} known
 * @property {number} deleted_here
 * @property {number} with_secrets
 * @property {number} foreign
 * @property {readonly string[]} deletes
 */

/**
 * @typedef {object} StartupFile
 * @property {string} path
 * @property {'ok' | 'missing' | 'broken'} state
 * @property {string} title
 * @property {string} text
 * @property {string} problem
 */

/**
 * The files in reading order, and what a session begins with in the order of its parts.
 * @typedef {object} StartupState
 * @property {readonly StartupFile[]} files
 * @property {boolean} is_complete
 * @property {readonly {part: string, items: readonly string[]}[]} boot
 * @property {string} boot_hash
 */

/** @typedef {{draft_id: string, report: ChangeReport}} SummaryDraft */

/** @typedef {{known_id: string, known_revision: number, is_accepted: boolean}} StatusAsk */

/**
 * @typedef {{ledger_id: string, revision: number, warning: string,
 *   loss: '' | 'emptied' | 'rolled_back' | 'replaced'}} MemoryStatus
 */

/**
 * What a message means for the memory, told before its answer.
 * @typedef {object} MemoryHint
 * @property {'none' | 'remember' | 'forget_last' | 'forget_about' | 'correct' | 'unavailable'
 *   } command
 * @property {string} text
 * @property {string} message_id
 * @property {readonly string[]} pending
 * @property {string} record_id the memory that the message overrides; for `correct` only
 */

/** @typedef {Record<string, never>} Nothing */

/**
 * Kind, payload and value of each request about the memory.
 * @typedef {{
 *   'memory.list': {payload: MemoryListAsk, value: MemoryPage},
 *   'memory.show': {payload: {record_id: string}, value: MemoryDetail},
 *   'memory.preview': {payload: {change: MemoryChange}, value: ChangeReport},
 *   'memory.apply': {payload: {change: MemoryChange}, value: ChangeReport},
 *   'memory.export': {payload: Nothing, value: {text: string, records: number}},
 *   'memory.import': {payload: {text: string, is_preview: boolean}, value: ImportReport},
 *   'memory.erase': {payload: Nothing, value: {revision: number}},
 *   'memory.startup': {payload: {write: {path: string, text: string} | null}, value: StartupState},
 *   'memory.status': {payload: StatusAsk, value: MemoryStatus},
 *   'memory.summarise': {payload: {mode: 'rule' | 'model'}, value: SummaryDraft},
 * }} MemoryCalls
 */

export {};
