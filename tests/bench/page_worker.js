/**
 * A worker of the page without its views, for drivers that measure.
 * One function expression that gives {send, ask, end}: `send` gives the id and the reply of a request
 * and tells a listener its events, `ask` gives the value or throws. The worker says nothing before it
 * is spoken to, so whoever waits for Python asks something.
 */
() => {
  const worker = new Worker('/worker/worker.js', { type: 'module' });
  const pending = new Map();
  const listeners = new Map();
  let lastId = 0;
  worker.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.event === undefined) pending.get(message.id)(message);
    else listeners.get(message.id)?.(message);
  };
  const send = (kind, payload, listener) => {
    lastId += 1;
    const id = lastId;
    const answer = new Promise((resolve) => pending.set(id, resolve));
    if (listener) listeners.set(id, listener);
    worker.postMessage(JSON.stringify({ v: 1, id, kind, payload }));
    const reply = answer.then(({ ok, value, error }) => {
      if (!ok) throw new Error(`${kind}: ${JSON.stringify(error)}`);
      return value;
    });
    return { id, reply };
  };
  const ask = (kind, payload) => send(kind, payload).reply;
  return { send, ask, end: () => worker.terminate() };
}
