/** The plan's names in words that a person can read: tiers, templates, reasons. */

/** @type {Readonly<Record<number, string>>} */
const TIERS = Object.freeze({
  1: 'system policy',
  2: 'current instruction',
  3: 'verified now',
  4: 'earlier user',
  5: 'session state',
  6: 'user profile',
  7: 'durable memory',
  8: 'reviewed summary',
  9: 'unreviewed',
  10: 'untrusted',
});

/** @type {Readonly<Record<string, string>>} */
const TEMPLATES = Object.freeze({
  policy: 'System text',
  user_turn: 'Earlier message',
  assistant_turn: 'Earlier answer',
  instruction: 'This message',
  note_row: 'Note from memory',
  quoted_row: 'Quoted text',
});

/** @type {Readonly<Record<string, string>>} */
const REASONS = Object.freeze({
  repeated_record: 'came twice',
  pending_review: 'not confirmed yet',
  never_rendered: 'for people, never for a model',
  acted: 'did its work on other records',
  source_withdrawn: 'made from a record that is gone',
  overridden_by_instruction: 'the current instruction says otherwise',
  outranked_in_conflict: 'a higher tier says otherwise',
  older_in_conflict: 'a newer record says otherwise',
  less_reviewed_in_conflict: 'a better reviewed record says otherwise',
  tenant_mismatch: 'belongs to somebody else',
  above_clearance: 'above the clearance of this session',
  retention_ended: 'its time is over',
  instruction_text: 'quarantined: nothing but orders to the model',
  empty_after_screening: 'nothing left after screening',
  memory_bypassed: 'the model is too small for memory',
  memory_not_needed: 'no memory needed',
  memory_off: 'memory is off',
  below_relevance_floor: 'not relevant enough',
  duplicate: 'says the same as another',
  near_duplicate: 'says nearly the same as another',
  escalated_to_raw: 'its sources stand in its place',
  over_budget: 'does not fit',
  behind_over_budget: 'behind one that did not fit',
});

/** @param {number | null} tier */
export function nameTier(tier) {
  return tier === null ? 'no tier' : `${tier} ${TIERS[tier] ?? ''}`.trim();
}

/** @param {string} template */
export function nameTemplate(template) {
  return TEMPLATES[template] ?? words(template);
}

/** @param {string} reason */
export function nameReason(reason) {
  return REASONS[reason] ?? words(reason);
}

/** @param {string} name */
export function words(name) {
  return name.replaceAll('_', ' ');
}
