/** What the loaded model says of itself, and the figures of the last turn. Nothing is guessed. */

import { part, show, showFacts } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../protocol.js').ModelFacts} ModelFacts */
/** @typedef {import('../protocol.js').TurnResult} TurnResult */

const SHORT_HASH_CHARS = 12;

/**
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function factsView(root, store) {
  const copy = part(root, 'copy', HTMLButtonElement);
  copy.addEventListener('click', async () => {
    const { facts } = store.state.model;
    if (!facts) return;
    await navigator.clipboard.writeText(facts.sha256);
    store.say('model', {
      level: 'info',
      code: 'copied',
      text: 'The sha256 of the model file is on the clipboard.',
    });
  });
  store.watch(['model'], ({ model: { facts } }) => {
    part(root, 'empty', HTMLElement).hidden = facts !== null;
    part(root, 'facts', HTMLElement).hidden = facts === null;
    if (facts) showFacts(part(root, 'list', HTMLElement), rowsOf(facts));
  });
  store.watch(['freed'], ({ freed }) => {
    showFacts(part(root, 'freed', HTMLElement), freed ? freedRows(freed) : []);
  });
  store.watch(['kv'], ({ kv }) => {
    if (kv) drawBudget(root, kv);
  });
  store.watch(['lastTurn'], ({ lastTurn }) => {
    part(root, 'turn-title', HTMLElement).hidden = lastTurn === null;
    showFacts(part(root, 'turn', HTMLElement), lastTurn ? turnRows(lastTurn) : []);
  });
}

/**
 * @param {HTMLElement} root
 * @param {{used: number, total: number}} kv
 */
function drawBudget(root, { used, total }) {
  const meter = part(root, 'kv-meter', HTMLMeterElement);
  meter.max = total;
  meter.value = used;
  const text = `${show(used, 'count')} of ${show(total, 'count')} bytes`;
  part(root, 'kv-text', HTMLElement).textContent = text;
}

/**
 * @param {ModelFacts} facts
 * @returns {[string, string, string?][]}
 */
function rowsOf(facts) {
  const { tokenizer } = facts;
  return [
    ['Name', facts.name],
    ['Context', `${show(facts.context_tokens, 'count')} tokens`],
    ['Prompt Limit', `${show(facts.prompt_limit_tokens, 'count')} tokens`],
    ['Output Limit', `${show(facts.output_limit_tokens, 'count')} tokens`],
    ['KV per token', `${show(facts.kv_bytes_per_token, 'count')} bytes`],
    ['File', `${show(facts.file_bytes, 'count')} bytes`],
    ['Parameters', show(facts.parameters, 'count')],
    ['Weights', facts.dtype],
    [
      'Tokenizer',
      `${tokenizer.kind}, ${show(tokenizer.vocab_size, 'count')} tokens`,
      tokenizer.identity,
    ],
    ['Chat template', facts.chat_template],
    ['sha256', facts.sha256.slice(0, SHORT_HASH_CHARS), facts.sha256],
    ['Checksum', facts.checksum],
    ['Op set', facts.op_set],
    ['KV cache', facts.kv_cache],
    ['Threads', show(facts.threads, 'count')],
    ['Heap', show(facts.heap_bytes, 'bytes'), `${show(facts.heap_bytes, 'count')} bytes`],
    ['Licence', facts.licence || 'not stated'],
    ['Origin', facts.origin || 'not stated'],
  ];
}

/**
 * @param {import('../store.js').FreedState} freed
 * @returns {[string, string, string?][]}
 */
function freedRows({ before, after }) {
  const title = (/** @type {number} */ bytes) => `${show(bytes, 'count')} bytes`;
  const now = after === null ? 'starting' : show(after, 'bytes');
  return [
    ['Heap before', show(before, 'bytes'), title(before)],
    ['Heap after', now, after === null ? '' : title(after)],
  ];
}

/**
 * @param {TurnResult} turn
 * @returns {[string, string][]}
 */
function turnRows(turn) {
  return [
    ['Prompt tokens', show(turn.prompt_tokens, 'count')],
    ['Reused tokens', show(turn.reused_tokens, 'count')],
    ...reuseRows(turn.reuse),
    ['Generated tokens', show(turn.generated_tokens, 'count')],
    ['Prefill', speed(turn.prefill_tokens_per_s, turn.prefill_ms)],
    ['Decode', speed(turn.decode_tokens_per_s, turn.decode_ms)],
    ['Finish reason', turn.finish_reason],
  ];
}

/**
 * @param {TurnResult['reuse']} reuse
 * @returns {[string, string][]}
 */
function reuseRows({
  restored_tokens,
  prefix_discarded,
  spliced_tokens,
  is_splice_refused,
  drift,
}) {
  /** @type {[string, string][]} */
  const rows = [['Restored tokens', show(restored_tokens, 'count')]];
  if (prefix_discarded) rows.push(['Saved rows', `discarded: ${prefix_discarded}`]);
  if (spliced_tokens) rows.push(['Moved tokens', show(spliced_tokens, 'count')]);
  if (is_splice_refused) rows.push(['Moving', 'refused: a text was withdrawn or changed']);
  if (drift) {
    const changed = drift.first_changed_token === null ? 'none' : drift.first_changed_token + 1;
    const largest = drift.logit_difference.toPrecision(3);
    rows.push([
      'Drift',
      `logits up to ${largest}; first changed token of ${drift.tokens}: ${changed}`,
    ]);
  }
  return rows;
}

/**
 * @param {number} rate
 * @param {number} took_ms
 */
function speed(rate, took_ms) {
  return `${show(rate, 'rate')} tokens/s in ${show(took_ms / 1000, 'rate')} s`;
}
