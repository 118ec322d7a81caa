/**
 * A worker of the page without its views: loads a served model and sends it messages.
 * One expression that gives {load, run, stop}, so that a driver can put it on any page of the site.
 */
(() => {
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
    const reply = new Promise((resolve) => pending.set(id, resolve));
    if (listener) listeners.set(id, listener);
    worker.postMessage(JSON.stringify({ v: 1, id, kind, payload }));
    return { id, reply };
  };
  const take = (kind, { ok, value, error }) => {
    if (!ok) throw new Error(`${kind}: ${JSON.stringify(error)}`);
    return value;
  };
  const ask = async (kind, payload) => take(kind, await send(kind, payload).reply);
  const message = (text, tokens) => ({
    text,
    system: '',
    settings: { temperature: 0, top_k: 40, top_p: 1, max_tokens: tokens, seed: 1 },
  });
  return {
    load: async (label) => {
      const { models } = await ask('store.list', {});
      const wanted = models.find((model) => model.label.startsWith(label));
      const opened = await ask('store.open', { sha256: wanted.sha256 });
      return ask('model.load', { ...opened, op_set: 'simd' });
    },
    run: async ([text, tokens, isNew = true]) => {
      if (isNew) await ask('chat.reset', {});
      return ask('chat.send', message(text, tokens));
    },
    /** Stops a run some time after its first event of a kind; gives milliseconds to its outcome. */
    stop: async ([text, event, delay]) => {
      await ask('chat.reset', {});
      let begin = () => undefined;
      const begun = new Promise((resolve) => (begin = resolve));
      const run = send('chat.send', message(text, 400), (one) => one.event === event && begin());
      await begun;
      await new Promise((resolve) => setTimeout(resolve, delay));
      const clicked = performance.now();
      send('cancel', { target: run.id });
      const { finish_reason } = take('chat.send', await run.reply);
      return { ms: performance.now() - clicked, finish_reason };
    },
  };
})()
