/**
 * The worker's first file: has Python fetched and compiled while the rest of the worker is fetched.
 * Keeps what the page says until the rest is there. Does not know messages.
 */

/** @type {MessageEvent[]} */
const waiting = [];
self.onmessage = (message) => waiting.push(message);

// Said by whoever waits for it, or not at all where an image makes it unneeded.
import('./python_begun.js').catch(() => {});

import('./engine.js').then(
  ({ takeMessage }) => {
    self.onmessage = takeMessage;
    waiting.forEach(takeMessage);
  },
  (cause) => self.reportError(cause),
);
