/**
 * Loads one served model in a worker of its own and sends it messages, without the page's views.
 * Takes {label, turns: [{text, settings}], op_set?}; gives the value of each chat.send and the
 * prompt hashes, or throws the first error reply. One function expression, so that any driver can
 * hand it to its browser.
 */
async (order) => {
  const worker = new Worker('/worker/worker.js', { type: 'module' });
  const pending = new Map();
  const promptHashes = [];
  let lastId = 0;
  let refuseAll;
  const lost = new Promise((_, reject) => {
    refuseAll = reject;
  });
  worker.onerror = (event) => refuseAll(new Error(`worker: ${event.message}`));
  worker.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.event === 'failed') refuseAll(new Error(JSON.stringify(message.data)));
    if (message.event === 'plan') promptHashes.push(message.data.plan.prompt_hash);
    if (message.event === undefined) pending.get(message.id)(message);
  };
  const ask = async (kind, payload) => {
    lastId += 1;
    const id = lastId;
    const reply = new Promise((resolve) => pending.set(id, resolve));
    worker.postMessage(JSON.stringify({ v: 1, id, kind, payload }));
    const { ok, value, error } = await Promise.race([reply, lost]);
    if (!ok) throw new Error(`${kind}: ${JSON.stringify(error)}`);
    return value;
  };
  try {
    const { models } = await ask('store.list', {});
    const wanted = models.find(({ label }) => label.startsWith(order.label));
    if (!wanted) throw new Error(`no model ${order.label} in ${JSON.stringify(models)}`);
    const opened = await ask('store.open', { sha256: wanted.sha256 });
    const facts = await ask('model.load', { ...opened, op_set: order.op_set ?? 'auto' });
    const turns = [];
    for (const { text, settings } of order.turns) {
      turns.push(await ask('chat.send', { text, system: '', settings }));
    }
    return { facts, turns, prompt_hashes: promptHashes };
  } finally {
    worker.terminate();
  }
}
