/** The conversation as it is read: one element a message, streamed text appended in place. */

import { fromTemplate, part, setTexts, show } from '../dom.js';

/** @typedef {import('../store.js').ChatMessage} ChatMessage */
/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../protocol.js').TurnResult} TurnResult */

const NEAR_END_PIXELS = 60;

const ENDINGS = Object.freeze({
  end: 'finished: end',
  length: 'finished: length, Max tokens reached',
  context: 'finished: context full',
  stopped: 'stopped',
  halted: 'a policy forbids this request',
});

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {HTMLElement} scroller the element that scrolls around it
 * @param {{openPlan: (message: number) => void, remember: (message: number) => void,
 *   regenerate: () => void, edit: () => void}} client
 */
export function transcriptView(root, store, scroller, client) {
  /** @type {Map<number, {element: HTMLElement, drawn: ChatMessage}>} */
  const shown = new Map();
  root.addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    if (target.dataset.answer) client.openPlan(Number(target.dataset.answer));
    if (target.dataset.part === 'regenerate') client.regenerate();
    if (target.dataset.part === 'edit') client.edit();
    const message = target.dataset.part === 'remember' && target.closest('[data-part="message"]');
    if (message instanceof HTMLElement) client.remember(Number(message.dataset.message));
  });
  store.watch(['messages', 'lastPair'], ({ messages, lastPair }) => {
    const distance = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    const has_new = messages.some((message) => !shown.has(message.id));
    const elements = messages.map((message) => draw(shown, message));
    const is_same = elements.every((element, index) => root.children[index] === element);
    if (!is_same || root.children.length !== elements.length) root.replaceChildren(...elements);
    forget(shown, messages);
    for (const [id, { element }] of shown) {
      offer(element, 'regenerate', id === lastPair?.answer);
      offer(element, 'edit', id === lastPair?.question);
    }
    if (has_new || distance < NEAR_END_PIXELS) scroller.scrollTop = scroller.scrollHeight;
  });
}

/**
 * @param {Map<number, {element: HTMLElement, drawn: ChatMessage}>} shown
 * @param {ChatMessage} message
 */
function draw(shown, message) {
  const before = shown.get(message.id);
  if (before?.drawn === message) return before.element;
  const element = before?.element ?? make(message);
  fill(element, message);
  shown.set(message.id, { element, drawn: message });
  return element;
}

/**
 * @param {Map<number, {element: HTMLElement, drawn: ChatMessage}>} shown
 * @param {readonly ChatMessage[]} messages
 */
function forget(shown, messages) {
  const ids = new Set(messages.map((message) => message.id));
  for (const id of shown.keys()) if (!ids.has(id)) shown.delete(id);
}

/**
 * Shows a button in the one message that it is for; a divider has none.
 * @param {HTMLElement} element
 * @param {string} name
 * @param {boolean} is_offered
 */
function offer(element, name, is_offered) {
  const button = element.querySelector(`[data-part="${name}"]`);
  if (button instanceof HTMLButtonElement) button.hidden = !is_offered;
}

/** @param {ChatMessage} message */
function make(message) {
  if (message.role === 'divider') return fromTemplate('divider-template');
  const element = fromTemplate('message-template');
  element.dataset.role = message.role;
  element.dataset.message = String(message.id);
  const who = message.role === 'user' ? 'You' : message.name;
  setTexts(element, { who });
  part(element, 'text', HTMLElement).append(document.createTextNode(''));
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {ChatMessage} message
 */
function fill(element, message) {
  if (message.role === 'divider') {
    element.textContent = message.text;
    return;
  }
  extend(part(element, 'text', HTMLElement), message.text);
  element.dataset.forgotten = String(message.is_forgotten);
  if (message.role === 'user') {
    showAttached(element, message.attachments);
    return;
  }
  const plan = part(element, 'plan', HTMLButtonElement);
  plan.hidden = message.plan === null;
  plan.dataset.answer = String(message.id);
  element.setAttribute('aria-busy', String(message.is_streaming));
  const outcome = part(element, 'outcome', HTMLElement);
  outcome.hidden = message.result === null;
  outcome.textContent = message.result ? describe(message.result) : '';
}

/**
 * @param {HTMLElement} element
 * @param {readonly string[]} names
 */
function showAttached(element, names) {
  const attached = part(element, 'attached', HTMLElement);
  attached.hidden = names.length === 0;
  attached.textContent = `Attached as quoted data: ${names.join(', ')}`;
}

/**
 * Appends what is new, so that a long answer costs no more a token than a short one.
 * @param {HTMLElement} holder
 * @param {string} text
 */
function extend(holder, text) {
  const node = /** @type {Text} */ (holder.firstChild);
  if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else node.data = text;
}

/** @param {TurnResult} result */
function describe(result) {
  const reused = result.reused_tokens > 0 ? ` (${show(result.reused_tokens, 'count')} reused)` : '';
  return [
    `${show(result.prompt_tokens, 'count')} prompt tokens${reused}`,
    `${show(result.generated_tokens, 'count')} generated`,
    `${show(result.decode_tokens_per_s, 'rate')} tokens/s`,
    ENDINGS[result.finish_reason],
    ...describeReuse(result.reuse),
  ].join(' · ');
}

/** @param {TurnResult['reuse']} reuse */
function describeReuse({ restored_tokens, spliced_tokens }) {
  const said = [];
  if (restored_tokens > 0) {
    said.push(`${show(restored_tokens, 'count')} tokens restored from the last visit`);
  }
  if (spliced_tokens > 0) said.push(`approximate: ${show(spliced_tokens, 'count')} tokens moved`);
  return said;
}
