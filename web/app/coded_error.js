/**
 * An error with a stable code, on both sides of the border.
 * Takes a code and one sentence that says what happened and what to do; knows nothing of messages.
 */

export class CodedError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {Record<string, unknown>} [details]
   */
  constructor(code, message, details = {}) {
    super(message);
    this.name = 'CodedError';
    this.code = code;
    this.details = details;
  }
}

/**
 * Gives any thrown value a code, so that nothing crosses the border without one.
 * @param {unknown} thrown
 * @returns {CodedError}
 */
export function coded(thrown) {
  if (thrown instanceof CodedError) return thrown;
  if (thrown instanceof DOMException && thrown.name === 'AbortError') {
    return new CodedError('cancelled', 'This was stopped before it was finished.');
  }
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new CodedError('internal', `The page met an error of its own (${text}). Reload the page.`);
}
