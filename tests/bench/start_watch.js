(() => {
  // Runs before the page's own scripts: notes when each message of the worker arrives, and sends a
  // message of a person who types ahead.
  const seen = [];
  window.watched = seen;
  const note = (name) => {
    if (!seen.some(([known]) => known === name)) seen.push([name, performance.now()]);
  };
  const read = ({ data }) => {
    const message = JSON.parse(data);
    const { event, value } = message;
    if (event === 'boot') note(`boot: ${message.data.text}`);
    else if (event === 'ready') note('ready');
    else if (event === 'progress' && message.data.step === 'verify') {
      note(message.data.done === 0 ? 'model: reading' : 'model: verified');
    } else if (event === 'progress' && message.data.step === 'load') note('model: first weights');
    else if (event === 'plan') note('turn: plan');
    else if (event === 'token') note('first token');
    else if (value?.tokenizer) note('model: loaded');
  };
  const Own = window.Worker;
  window.Worker = class extends Own {
    constructor(...parts) {
      super(...parts);
      note('worker asked for');
      if (String(parts[0]).endsWith('/worker.js')) this.addEventListener('message', read);
    }
  };
  document.addEventListener('DOMContentLoaded', () => {
    note('document');
    if (!window.sendsAhead) return;
    const text = document.querySelector('#message');
    text.value = 'What is the capital of France?';
    text.dispatchEvent(new Event('input', { bubbles: true }));
    document.querySelector('[data-part=send]').click();
    note('message sent');
  });
})();
