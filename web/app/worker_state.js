/**
 * Follows the worker itself: starting, ready, failed, lost.
 * Takes its own events, changes the store. Later progress cannot leave a settled state.
 */

/** @typedef {import('./store.js').Store} Store */

/**
 * @param {Store} store
 * @param {() => void} onReplaced called when a lost worker has been replaced by a new one
 * @returns {import('./worker_client.js').WorkerListener}
 */
export function bootListener(store, onReplaced) {
  let started_ms = 0; // The first start counts from the page's own beginning.
  return {
    onOwnEvent(event) {
      const { boot } = store.state;
      switch (event.event) {
        case 'boot':
          if (boot.kind === 'booting')
            store.update({ boot: { kind: 'booting', progress: event.data } });
          break;
        case 'ready':
          if (boot.kind !== 'booting') break;
          store.update({ boot: { kind: 'ready', took_ms: performance.now() - started_ms } });
          break;
        case 'failed':
          store.update({
            boot: { kind: 'failed', code: event.data.code, text: event.data.message },
          });
          store.say('engine', {
            code: event.data.code,
            text: event.data.message,
            action: 'restart',
          });
          break;
        case 'notice':
          store.say('storage', { ...event.data, level: 'info' });
          break;
      }
    },

    onLost(error) {
      started_ms = performance.now();
      const progress = { step: 'runtime', done: 0, total: 4, text: 'Starting again' };
      store.update({
        boot: { kind: 'booting', progress },
        model: { facts: null, loading: null },
        kv: null,
        plan: null,
        lastTurn: null,
        messages: store.state.messages.map((message) =>
          message.role === 'divider' ? message : { ...message, is_forgotten: true },
        ),
      });
      const text = `${error.message} It was started again; load the model to go on. The transcript is still here, the context is empty.`;
      store.say('engine', { code: 'worker_lost', text });
      onReplaced();
    },
  };
}
