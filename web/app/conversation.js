/**
 * What a person can do in the conversation: send, stop, regenerate or edit the last message, reset
 * the context, clear the transcript.
 * Takes the store and the worker client. A message that is refused goes back to the composer, so
 * no text is lost. Does not touch the DOM.
 */

import { CodedError, coded } from './coded_error.js';
import { emptyAnswer, forgotten, isRemembered } from './exchange.js';

/** @typedef {import('./protocol.js').RequestEvent} RequestEvent */
/** @typedef {import('./protocol.js').TurnResult} TurnResult */
/** @typedef {import('./store.js').Attached} Attached */
/** @typedef {import('./store.js').ChatMessage} ChatMessage */
/** @typedef {import('./store.js').Plan} Plan */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */
/** @typedef {Extract<ChatMessage, {role: 'assistant'}>} Answer */

/** @typedef {{question: number, answer: number}} TurnIds */
/**
 * @typedef {{text: string, attachments: readonly Attached[],
 *   correction: import('./retrieval_protocol.js').Correction | null}} Sent
 */

const STOP_DEADLINE_MS = 8_000;

export class Conversation {
  #store;
  #worker;
  #onHint;
  /** @type {Sent} */
  #lastSent = { text: '', attachments: [], correction: null };

  /**
   * @param {Store} store
   * @param {WorkerClient} worker
   * @param {(hint: import('./memory_protocol.js').MemoryHint) => void} onHint
   */
  constructor(store, worker, onHint) {
    this.#store = store;
    this.#worker = worker;
    this.#onHint = onHint;
  }

  /**
   * Sends a message; one that is being edited takes the place of the last pair.
   * @param {string} text
   * @returns {boolean} whether it was sent; if not, a sentence says why
   */
  send(text) {
    const { attachments, lastPair, recall } = this.#store.state;
    const sent = { text, attachments, correction: recall.correction };
    return this.#put(sent, lastPair?.is_edited ? lastPair : null);
  }

  /** Asks the last question once more, with the settings as they are now. */
  regenerate() {
    const { lastPair } = this.#store.state;
    if (lastPair) this.#put(this.#lastSent, lastPair);
  }

  /** Gives the last question back to the composer; what is sent next takes its place. */
  edit() {
    const { lastPair } = this.#store.state;
    if (!lastPair) return;
    this.#store.update({ lastPair: { ...lastPair, is_edited: true } });
    this.#giveBack(this.#lastSent);
  }

  /** Leaves the last pair as it is. */
  cancelEdit() {
    const { lastPair } = this.#store.state;
    if (lastPair) this.#store.update({ lastPair: { ...lastPair, is_edited: false } });
  }

  /**
   * @param {Sent} sent
   * @param {TurnIds | null} replaced the pair that makes room
   * @returns {boolean} whether it was sent; if not, a sentence says why
   */
  #put(sent, replaced) {
    const { draft, lastPair, recall, turn } = this.#store.state;
    if (turn.kind === 'running') {
      const obstacle = 'An answer is being written. Stop it, or wait for its end.';
      this.#store.say('busy', { code: 'busy', text: obstacle });
      return false;
    }
    this.#store.unsay(['chat', 'busy']);
    const gone = replaced ? this.#takeAway(replaced) : [];
    const ids = this.#showTurn(sent.text, sent.attachments);
    const attachments = sent.attachments.map(({ name, text }) => ({ name, text }));
    const { system, settings, reuse } = draft;
    const { text, correction: intent } = sent;
    const replaces_last = gone.some(isRemembered);
    // A change of what is looked for holds for one message.
    this.#store.update({ recall: { ...recall, text: '', intent: null, correction: null } });
    const payload = { text, system, attachments, settings, intent, replaces_last, ...reuse };
    this.#ask(ids.answer, payload).then(
      (result) => this.#showResult(ids, sent, result),
      (thrown) => {
        this.#showFailure(ids, sent, { lastPair, gone }, thrown);
        this.#restore(sent.correction);
      },
    );
    return true;
  }

  /**
   * Takes a pair off the page.
   * @param {TurnIds} ids
   * @returns {readonly ChatMessage[]} the pair
   */
  #takeAway({ question, answer }) {
    const { messages } = this.#store.state;
    const isOfPair = (/** @type {ChatMessage} */ { id }) => id === question || id === answer;
    this.#store.update({ messages: messages.filter((message) => !isOfPair(message)) });
    return messages.filter(isOfPair);
  }

  /**
   * Asks once no model is being loaded any more: who writes ahead need not wait.
   * @param {number} answer
   * @param {import('./protocol.js').ChatSendPayload} payload
   * @returns {Promise<TurnResult>}
   */
  async #ask(answer, payload) {
    const turn = { message: answer, progress: null, is_stopping: false };
    this.#store.update({ turn: { kind: 'running', request: null, ...turn } });
    await this.#store.until((state) => !state.model.loading || isStopped(state));
    if (isStopped(this.#store.state))
      throw new CodedError('cancelled', 'The message was not sent.');
    const onEvent = (/** @type {RequestEvent} */ event) => this.#follow(answer, event);
    const { id, reply } = this.#worker.request('chat.send', payload, { onEvent });
    this.#store.update({ turn: { kind: 'running', request: id, ...turn } });
    return reply;
  }

  async stop() {
    const { turn } = this.#store.state;
    if (turn.kind !== 'running' || turn.is_stopping) return;
    this.#store.update({ turn: { ...turn, is_stopping: true } });
    if (turn.request === null) return; // It was still waiting, and is given back.
    const { reply } = this.#worker.request('cancel', { target: turn.request });
    const patience = setTimeout(() => this.#sayNotAnswering(), STOP_DEADLINE_MS);
    await reply.catch(() => undefined).finally(() => clearTimeout(patience));
  }

  /** Forgets the conversation in the model; what is on the page stays readable. */
  async resetContext() {
    try {
      const { turns_dropped } = await this.#worker.request('chat.reset', {}).reply;
      this.#showReset(turns_dropped);
    } catch (thrown) {
      const { code, message } = coded(thrown);
      this.#store.say('chat', { code, text: message });
    }
  }

  /** Empties the page; what the model has in its context stays. */
  clearTranscript() {
    const { turn, messages } = this.#store.state;
    const running = turn.kind === 'running' ? turn.message : null;
    this.#store.update({
      messages: messages.filter((message) => message.id === running),
      lastPair: null,
    });
  }

  /**
   * Puts question and empty answer on the page.
   * @param {string} text
   * @param {readonly Attached[]} attachments
   * @returns {TurnIds}
   */
  #showTurn(text, attachments) {
    const { messages, model } = this.#store.state;
    const ids = { question: this.#store.nextId(), answer: this.#store.nextId() };
    const name = model.facts?.name ?? 'Answer';
    const names = attachments.map((attachment) => attachment.name);
    this.#store.update({
      attachments: [],
      lastPair: null,
      messages: [
        ...messages,
        { id: ids.question, role: 'user', text, is_forgotten: false, attachments: names },
        { id: ids.answer, ...emptyAnswer(name) },
      ],
    });
    return ids;
  }

  /**
   * @param {number} answer
   * @param {RequestEvent} event
   */
  #follow(answer, event) {
    const { turn } = this.#store.state;
    if (event.event === 'memory') return this.#onHint(event.data);
    if (event.event === 'plan') this.#showPlan(answer, event.data);
    else if (event.event === 'notice') this.#store.say('chat', { ...event.data, level: 'info' });
    else if (event.event === 'token') {
      this.#change(answer, (message) => ({ ...message, text: message.text + event.data.text }));
    } else if (turn.kind === 'running') {
      this.#store.update({ turn: { ...turn, progress: event.data } });
    }
  }

  /**
   * Gives a change back with its message, unless there is a newer one.
   * @param {import('./retrieval_protocol.js').Correction | null} correction
   */
  #restore(correction) {
    const { recall } = this.#store.state;
    if (recall.correction === null) this.#store.update({ recall: { ...recall, correction } });
  }

  /**
   * @param {number} answer
   * @param {{plan: Plan, retrieval: import('./retrieval_protocol.js').Retrieval | null}} data
   */
  #showPlan(answer, { plan, retrieval }) {
    this.#change(answer, (message) => ({ ...message, plan, retrieval }));
    this.#store.update({ plan });
  }

  /**
   * @param {TurnIds} ids
   * @param {Sent} sent
   * @param {TurnResult} result
   */
  #showResult(ids, sent, result) {
    const { answer } = ids;
    const { text } = result;
    this.#lastSent = sent;
    this.#change(answer, (message) => ({ ...message, text, is_streaming: false, result }));
    this.#store.unsay(['busy']);
    const { model, messages } = this.#store.state;
    const { threads, heap_bytes } = result;
    this.#store.update({
      turn: { kind: 'idle' },
      lastTurn: result,
      lastPair: messages.some(({ id }) => id === ids.question)
        ? { ...ids, is_edited: false }
        : null,
      model: { ...model, facts: model.facts && { ...model.facts, threads, heap_bytes } },
      kv: { used: result.kv_bytes_used, total: result.kv_bytes_total },
    });
  }

  /**
   * Keeps what was answered so far; a question without any answer goes back to the composer, and
   * a pair whose place it took comes back.
   * @param {TurnIds} ids
   * @param {Sent} sent
   * @param {{lastPair: import('./store.js').PageState['lastPair'], gone: readonly ChatMessage[]}} before
   * @param {unknown} thrown
   */
  #showFailure({ question, answer }, sent, before, thrown) {
    const { messages } = this.#store.state;
    if (messages.find((message) => message.id === answer)?.text) {
      this.#change(answer, (partial) => ({ ...partial, is_streaming: false }));
    } else {
      const { lastPair, gone } = before;
      const is_edited = lastPair?.is_edited ?? false;
      this.#store.update({
        messages: [...messages.filter(({ id }) => id !== question && id !== answer), ...gone],
        lastPair,
      });
      if (is_edited || gone.length === 0) this.#giveBack(sent);
    }
    this.#store.update({ turn: { kind: 'idle' } });
    this.#store.unsay(['busy']);
    const { code, message } = coded(thrown);
    const level = code === 'cancelled' ? 'info' : 'error';
    if (code !== 'worker_lost') this.#store.say('chat', { level, code, text: message });
  }

  /** @param {Sent} sent */
  #giveBack({ text, attachments }) {
    const { returned, attachments: newer } = this.#store.state;
    this.#store.update({
      returned: { text, revision: returned.revision + 1 },
      attachments: [...attachments, ...newer],
    });
  }

  /** @param {number} turns */
  #showReset(turns) {
    const { messages, kv } = this.#store.state;
    const text = `Context reset: ${turns} ${turns === 1 ? 'turn' : 'turns'} forgotten`;
    const divider = /** @type {const} */ ({ id: this.#store.nextId(), role: 'divider', text });
    this.#store.update({
      messages: [...messages.map(forgotten), divider],
      plan: null,
      lastTurn: null,
      lastPair: null,
      kv: kv && { ...kv, used: 0 },
    });
  }

  /** Ending the worker is the last resort, and a person's choice. */
  #sayNotAnswering() {
    const text = 'The engine does not answer. Restart it to go on; the transcript stays.';
    this.#store.say('engine', { code: 'not_answering', text, action: 'restart' });
  }

  /**
   * @param {number} id
   * @param {(answer: Answer) => Answer} change
   */
  #change(id, change) {
    const messages = this.#store.state.messages.map((message) =>
      message.id === id && message.role === 'assistant' ? change(message) : message,
    );
    this.#store.update({ messages });
  }
}

/** @param {import('./store.js').PageState} state */
function isStopped({ turn }) {
  return turn.kind === 'running' && turn.is_stopping;
}
