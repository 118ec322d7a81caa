/**
 * Gives the event loop one turn, cheaply.
 * Takes nothing, gives a function that returns a promise; knows nothing of who waits.
 * A message port costs some tens of microseconds where a timer costs four milliseconds.
 */

/** @returns {() => Promise<void>} */
export function makePause() {
  const { port1, port2 } = new MessageChannel();
  /** @type {(() => void)[]} */
  const waiting = [];
  port1.onmessage = () => waiting.shift()?.();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(null);
    });
}
