/**
 * What a question and its answer are on the page, and what the worker still knows of them.
 * Takes messages of the transcript, gives messages. Does not know the store.
 */

/** @typedef {import('./store.js').ChatMessage} ChatMessage */
/** @typedef {Extract<ChatMessage, {role: 'assistant'}>} Answer */

/**
 * Whether the worker has this answer in its conversation: a stopped one without text it has not.
 * @param {ChatMessage} message
 */
export function isRemembered(message) {
  const { result, text } = message.role === 'assistant' ? message : { result: null, text: '' };
  return result !== null && (text !== '' || result.finish_reason !== 'stopped');
}

/**
 * Marks what the model no longer has in its context.
 * @param {ChatMessage} message
 * @returns {ChatMessage}
 */
export function forgotten(message) {
  return message.role === 'divider' ? message : { ...message, is_forgotten: true };
}

/**
 * @param {string} name
 * @returns {Omit<Answer, 'id'>}
 */
export function emptyAnswer(name) {
  const role = 'assistant';
  const state = {
    is_forgotten: false,
    is_streaming: true,
    result: null,
    plan: null,
    retrieval: null,
  };
  return { role, name, text: '', ...state };
}
