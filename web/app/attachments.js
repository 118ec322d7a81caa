/**
 * Foreign texts that go with the next message.
 * Takes the store, names and texts; says in a sentence why one cannot be attached. Does not judge
 * what a text says: that is the compiler's work. Does not touch the DOM.
 */

/** @typedef {import('./store.js').Store} Store */

const MOST_ATTACHMENTS = 8;
const LONGEST_NAME_CHARS = 200;
const LARGEST_TEXT_CHARS = 262_144;

export class Attachments {
  #store;

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
  }

  /**
   * @param {string} name
   * @param {string} text
   * @returns {string} why it was not attached; empty when it was
   */
  add(name, text) {
    const { attachments } = this.#store.state;
    const obstacle = findObstacle(text, attachments.length);
    if (obstacle) return obstacle;
    const shown = name.trim().slice(0, LONGEST_NAME_CHARS) || `Text ${attachments.length + 1}`;
    this.#store.update({
      attachments: [...attachments, { id: this.#store.nextId(), name: shown, text }],
    });
    return '';
  }

  /** @param {number} id */
  remove(id) {
    const attachments = this.#store.state.attachments.filter((attached) => attached.id !== id);
    this.#store.update({ attachments });
  }
}

/**
 * @param {string} text
 * @param {number} count
 */
function findObstacle(text, count) {
  if (count >= MOST_ATTACHMENTS) return `A message takes ${MOST_ATTACHMENTS} texts; remove one.`;
  if (text.trim() === '') return 'Paste a text or choose a file.';
  // Python counts code points, of which a string has at most as many as it has units.
  if (text.length > LARGEST_TEXT_CHARS)
    return `The text has ${text.length} characters; attach at most ${LARGEST_TEXT_CHARS}.`;
  return '';
}
