/**
 * A worker of the page without its views: loads a served model and sends it messages.
 * One expression that gives {load, run}, so that a driver can put it on any page of the site.
 */
(() => {
  const worker = new Worker('/worker/worker.js', { type: 'module' });
  const pending = new Map();
  let lastId = 0;
  worker.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.event === undefined) pending.get(message.id)(message);
  };
  const ask = async (kind, payload) => {
    lastId += 1;
    const id = lastId;
    const reply = new Promise((resolve) => pending.set(id, resolve));
    worker.postMessage(JSON.stringify({ v: 1, id, kind, payload }));
    const { ok, value, error } = await reply;
    if (!ok) throw new Error(`${kind}: ${JSON.stringify(error)}`);
    return value;
  };
  return {
    load: async (label) => {
      const { models } = await ask('store.list', {});
      const wanted = models.find((model) => model.label.startsWith(label));
      const opened = await ask('store.open', { sha256: wanted.sha256 });
      return ask('model.load', { ...opened, op_set: 'simd' });
    },
    run: async ([text, tokens]) => {
      await ask('chat.reset', {});
      const settings = { temperature: 0, top_k: 40, top_p: 1, max_tokens: tokens, seed: 1 };
      return ask('chat.send', { text, system: '', settings });
    },
  };
})()
