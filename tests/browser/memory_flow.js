/**
 * Uses the memory as a person does, by the page's own controls, in any engine.
 * Takes {step: 'keep' | 'delete', text}; gives the words of the rows and the raw database, or
 * throws what it waited for in vain. One function expression, so that any driver can hand it to
 * its browser.
 */
async (order) => {
  const DEADLINE_MS = 60_000;
  const find = async (what, look) => {
    const begin = performance.now();
    for (;;) {
      const found = look();
      if (found) return found;
      if (performance.now() - begin > DEADLINE_MS) {
        const said = [...document.querySelectorAll('[role=alert]')].map((e) => e.textContent);
        throw new Error(`waited for ${what}; the page says ${said.join(' / ')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const named = (root, name) =>
    [...root.querySelectorAll('button')].find(
      (button) => button.textContent.trim() === name && button.offsetParent !== null,
    );
  const press = async (root, name) => (await find(name, () => named(root, name))).click();
  const memory = await find('the view', () => document.querySelector('dialog.memory'));
  await press(document, 'Memory');
  await find('the list', () => memory.querySelector('[data-part=count]').textContent);
  const rowOf = (text) =>
    [...memory.querySelectorAll('[data-part=rows] > li')].find((row) =>
      row.textContent.includes(text),
    );
  if (order.step === 'keep') {
    memory.querySelector('#memory-text').value = order.text;
    memory.querySelector('[data-part=writing]').requestSubmit();
    await press(memory, 'Do it');
    await find('the row', () => rowOf(order.text));
  } else {
    const row = await find('the row after the reload', () => rowOf(order.text));
    await press(row, 'Delete');
    await press(memory, 'Do it');
    await find('the mark', () => rowOf('Deleted; the text is gone'));
  }
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open('tinyloom');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const raw = [];
  for (const name of database.objectStoreNames) {
    raw.push(
      await new Promise((resolve) => {
        const request = database.transaction(name).objectStore(name).getAll();
        request.onsuccess = () => resolve(request.result);
      }),
    );
  }
  database.close();
  const rows = [...memory.querySelectorAll('[data-part=rows] > li')].map((row) => row.textContent);
  return { rows, raw: JSON.stringify(raw) };
}
