/**
 * The plan of one prompt as it crosses from the worker, as types; py_core/compiler/plan.py is their
 * source.
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

export {};
