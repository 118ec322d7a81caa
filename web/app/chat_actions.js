/**
 * What a person can do in the conversation: send, stop, reset the context, clear the transcript.
 * Takes the store and the worker client, gives functions for the views. A message that is refused
 * goes back to the composer, so no text is lost. Does not touch the DOM.
 */

import { coded } from './coded_error.js';

/** @typedef {import('./protocol.js').RequestEvent} RequestEvent */
/** @typedef {import('./protocol.js').TurnResult} TurnResult */
/** @typedef {import('./store.js').ChatMessage} ChatMessage */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {Extract<ChatMessage, {role: 'assistant'}>} Answer */
/** @typedef {import('./worker_client.js').WorkerClient} WorkerClient */

/**
 * @param {Store} store
 * @param {WorkerClient} worker
 */
export function makeChatActions(store, worker) {
  /**
   * @param {number} id
   * @param {(answer: Answer) => Answer} change
   */
  function changeAnswer(id, change) {
    const messages = store.state.messages.map((message) =>
      message.id === id && message.role === 'assistant' ? change(message) : message,
    );
    store.update({ messages });
  }

  /**
   * @param {number} answer
   * @param {RequestEvent} event
   */
  function onEvent(answer, event) {
    const { turn } = store.state;
    if (event.event === 'plan') store.update({ plan: event.data.plan });
    else if (event.event === 'notice') store.say('chat', { ...event.data, level: 'info' });
    else if (event.event === 'token') {
      changeAnswer(answer, (message) => ({ ...message, text: message.text + event.data.text }));
    } else if (turn.kind === 'running') {
      store.update({ turn: { ...turn, progress: event.data } });
    }
  }

  /**
   * Puts question and empty answer on the page.
   * @param {string} text
   * @returns {{question: number, answer: number}} their ids
   */
  function showTurn(text) {
    const name = store.state.model.facts?.name ?? 'Answer';
    const question = store.nextId();
    const answer = store.nextId();
    store.update({
      messages: [
        ...store.state.messages,
        { id: question, role: 'user', text, is_forgotten: false },
        {
          id: answer,
          role: 'assistant',
          text: '',
          is_forgotten: false,
          name,
          is_streaming: true,
          result: null,
        },
      ],
    });
    return { question, answer };
  }

  /**
   * @param {number} answer
   * @param {TurnResult} result
   */
  function showResult(answer, result) {
    changeAnswer(answer, (message) => ({
      ...message,
      text: result.text,
      is_streaming: false,
      result,
    }));
    store.unsay(['busy']);
    store.update({
      turn: { kind: 'idle' },
      lastTurn: result,
      kv: { used: result.kv_bytes_used, total: result.kv_bytes_total },
    });
  }

  /**
   * Keeps what was answered so far; a question without any answer goes back to the composer.
   * @param {{question: number, answer: number}} ids
   * @param {string} text
   * @param {unknown} thrown
   */
  function showFailure({ question, answer }, text, thrown) {
    const { messages, returned } = store.state;
    const shown = messages.find((message) => message.id === answer);
    if (shown?.text) {
      changeAnswer(answer, (partial) => ({ ...partial, is_streaming: false }));
    } else {
      store.update({
        messages: messages.filter(({ id }) => id !== question && id !== answer),
        returned: { text, revision: returned.revision + 1 },
      });
    }
    store.update({ turn: { kind: 'idle' } });
    store.unsay(['busy']);
    const { code, message } = coded(thrown);
    if (code !== 'worker_lost') store.say('chat', { code, text: message });
  }

  /** @returns {string | null} why nothing can be sent now, and what to do */
  function findObstacle() {
    const { model, turn } = store.state;
    if (turn.kind === 'running') return 'An answer is being written. Stop it, or wait for its end.';
    if (!model.loading) return null;
    return `${model.loading.name} is being loaded. Your text stays here; send it when the model is ready.`;
  }

  return {
    /**
     * @param {string} text
     * @returns {boolean} whether it was sent; if not, a sentence says why
     */
    send(text) {
      const obstacle = findObstacle();
      if (obstacle) {
        store.say('busy', { code: 'busy', text: obstacle });
        return false;
      }
      store.unsay(['chat', 'busy']);
      const ids = showTurn(text);
      const { system, settings } = store.state.draft;
      const { id, reply } = worker.request(
        'chat.send',
        { text, system, settings },
        { onEvent: (event) => onEvent(ids.answer, event) },
      );
      const turn = { request: id, message: ids.answer, progress: null, is_stopping: false };
      store.update({ turn: { kind: 'running', ...turn } });
      reply.then(
        (result) => showResult(ids.answer, result),
        (thrown) => showFailure(ids, text, thrown),
      );
      return true;
    },

    async stop() {
      const { turn } = store.state;
      if (turn.kind !== 'running' || turn.is_stopping) return;
      store.update({ turn: { ...turn, is_stopping: true } });
      await worker.request('cancel', { target: turn.request }).reply;
    },

    /** Forgets the conversation in the model; what is on the page stays readable. */
    async resetContext() {
      try {
        const { turns_dropped } = await worker.request('chat.reset', {}).reply;
        const text = `Context reset: ${turns_dropped} ${turns_dropped === 1 ? 'turn' : 'turns'} forgotten`;
        const forgotten = store.state.messages.map((message) =>
          message.role === 'divider' ? message : { ...message, is_forgotten: true },
        );
        const { kv } = store.state;
        store.update({
          messages: [...forgotten, { id: store.nextId(), role: 'divider', text }],
          plan: null,
          lastTurn: null,
          kv: kv && { ...kv, used: 0 },
        });
      } catch (thrown) {
        const { code, message } = coded(thrown);
        store.say('chat', { code, text: message });
      }
    },

    /** Empties the page; what the model has in its context stays. */
    clearTranscript() {
      const { turn, messages } = store.state;
      const running = turn.kind === 'running' ? turn.message : null;
      store.update({ messages: messages.filter((message) => message.id === running) });
    },
  };
}
