/** The model bar: choose, load, open a file, cancel, free, remove. */

import { part, show } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../store.js').PageState} PageState */
/** @typedef {import('../store_protocol.js').ShelfEntry} ShelfEntry */

/**
 * @typedef {object} ModelClient
 * @property {(entry: ShelfEntry) => Promise<void>} loadModel
 * @property {(file: File) => Promise<void>} openFile
 * @property {() => Promise<void>} cancelLoading
 * @property {() => Promise<void>} freeModel
 * @property {(entry: ShelfEntry) => Promise<void>} removeModel
 */

/**
 * @param {HTMLFormElement} root
 * @param {Store} store
 * @param {ModelClient} client
 */
export function modelsView(root, store, client) {
  const choice = part(root, 'choice', HTMLSelectElement);
  const file = part(root, 'file', HTMLInputElement);
  const remove = part(root, 'remove', HTMLButtonElement);

  const chosen = () => {
    const { shelf } = store.state;
    if (shelf.kind !== 'known') return undefined;
    return shelf.models.find((entry) => entry.sha256 === choice.value);
  };
  const showRemove = () => {
    remove.hidden = !chosen()?.is_stored;
  };

  root.addEventListener('submit', (event) => {
    event.preventDefault();
    const entry = chosen();
    if (entry) client.loadModel(entry);
    else file.click();
  });
  choice.addEventListener('change', showRemove);
  remove.addEventListener('click', () => {
    const entry = chosen();
    if (entry) client.removeModel(entry);
  });
  const free = part(root, 'free', HTMLButtonElement);
  free.addEventListener('click', () => client.freeModel());
  part(root, 'cancel', HTMLButtonElement).addEventListener('click', () => client.cancelLoading());
  file.addEventListener('change', () => {
    const picked = file.files?.[0];
    file.value = ''; // Choosing the same file again is a new wish.
    if (picked) client.openFile(picked);
  });
  acceptDrops(client);

  store.watch(['shelf', 'model'], (state) => {
    drawChoice(choice, state);
    showRemove();
  });
  store.watch(['model'], ({ model }) => {
    free.hidden = model.facts === null || model.loading !== null;
    drawLoading(root, model);
  });
}

/**
 * @param {HTMLSelectElement} choice
 * @param {PageState} state
 */
function drawChoice(choice, { shelf, model }) {
  if (shelf.kind === 'asking') {
    choice.replaceChildren(new Option('Looking for models', ''));
    return;
  }
  if (shelf.models.length === 0) {
    const where = shelf.is_server_reached ? 'No model here' : 'No model stored and no server';
    choice.replaceChildren(new Option(`${where}: choose a file`, ''));
    return;
  }
  const before = choice.value;
  choice.replaceChildren(
    ...shelf.models.map((entry) => {
      const place = entry.is_stored ? ', stored' : '';
      const is_loaded = entry.sha256 === model.facts?.sha256 ? ', loaded' : '';
      const text = `${entry.label} (${show(entry.file_bytes, 'bytes')}${place}${is_loaded})`;
      return new Option(text, entry.sha256);
    }),
  );
  const is_there = shelf.models.some((entry) => entry.sha256 === before);
  const fallback = model.facts?.sha256 ?? shelf.models[0]?.sha256 ?? '';
  choice.value = is_there ? before : fallback;
  if (choice.selectedIndex < 0) choice.selectedIndex = 0;
}

/**
 * @param {HTMLElement} root
 * @param {PageState['model']} model
 */
function drawLoading(root, { loading }) {
  const area = part(root, 'loading', HTMLElement);
  const bar = part(root, 'loading-bar', HTMLProgressElement);
  const text = part(root, 'loading-text', HTMLElement);
  area.hidden = loading === null;
  if (!loading) return;
  const progress = loading.progress;
  text.textContent = progress ? describe(progress) : `Opening ${loading.name}`;
  if (progress && progress.total > 0) {
    bar.max = progress.total;
    bar.value = progress.done;
  } else {
    bar.removeAttribute('value'); // Unknown amount: the bar shows movement only.
  }
}

/** @param {import('../protocol.js').ProgressData} progress */
function describe({ step, done, total, text }) {
  switch (step) {
    case 'download':
      return `${text}: ${show(done, 'bytes')} of ${show(total, 'bytes')}`;
    case 'convert':
      return `Converting ${text}`;
    case 'load':
      return `Loading ${text}`;
    default:
      return text;
  }
}

/** @param {ModelClient} client */
function acceptDrops(client) {
  const hint = part(document, 'drop-hint', HTMLElement);
  const carriesFile = (/** @type {DragEvent} */ event) =>
    event.dataTransfer?.types.includes('Files');
  document.addEventListener('dragover', (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    hint.hidden = false;
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) hint.hidden = true;
  });
  document.addEventListener('drop', (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    hint.hidden = true;
    const dropped = event.dataTransfer?.files[0];
    if (dropped) client.openFile(dropped);
  });
}
