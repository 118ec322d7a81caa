/**
 * Loads a served model in a worker of its own and sends it messages.
 * One function expression: takes the function of page_worker.js, gives {load, run, stop}.
 */
(startWorker) => {
  const { send, ask } = startWorker();
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
      const { finish_reason } = await run.reply;
      return { ms: performance.now() - clicked, finish_reason };
    },
  };
}
