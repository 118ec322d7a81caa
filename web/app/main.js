/**
 * Composition: one store, one worker client, the views.
 * Nothing imports this file.
 */

import { Attachments } from './attachments.js';
import { CodedError, coded } from './coded_error.js';
import { Conversation } from './conversation.js';
import { part } from './dom.js';
import { makeWorker } from './first_worker.js';
import { addMarkup } from './markup.js';
import { MemoryBook } from './memory_book.js';
import { MemoryGuard } from './memory_guard.js';
import { ModelLoading } from './model_loading.js';
import { keepForOffline } from './offline.js';
import { PlanDesk } from './plan_desk.js';
import { Recall } from './recall.js';
import { rememberedChoice } from './remembered_choice.js';
import { saveFile } from './save_file.js';
import { SemanticSearch } from './semantic_search.js';
import { keepStartImage } from './start_image.js';
import { initialState, Store } from './store.js';
import { attachView } from './views/attach.js';
import { composerView } from './views/composer.js';
import { engineMemoryView } from './views/engine_memory.js';
import { factsView } from './views/facts.js';
import { lostView, memoryView } from './views/memory.js';
import { modelsView } from './views/models.js';
import { noticesView } from './views/notices.js';
import { planView } from './views/plan.js';
import { planDialogView } from './views/plan_dialog.js';
import { recallView } from './views/recall.js';
import { semanticSearchView } from './views/semantic_search.js';
import { settingsView } from './views/settings.js';
import { statusView } from './views/status.js';
import { transcriptView } from './views/transcript.js';
import { welcomeView } from './views/welcome.js';
import { holdVisit } from './visit_lock.js';
import { WorkerClient } from './worker_client.js';
import { WorkerState } from './worker_state.js';

const NO_MEMORY_VIEW =
  'The memory view could not be fetched: reload the page to look at the memory.';

const NO_PLAN_VIEW = 'The plan view could not be fetched: reload the page to look at plans.';

/** @param {string} name */
function view(name) {
  return /** @type {HTMLElement} */ (document.querySelector(`[data-view="${name}"]`));
}

/** Opens and closes the panel where the screen is too narrow for both. */
function bindPanel() {
  const toggle = part(document, 'panel-toggle', HTMLButtonElement);
  const panel = part(document, 'panel', HTMLElement);
  toggle.addEventListener('click', () => {
    const is_open = toggle.getAttribute('aria-expanded') !== 'true';
    toggle.setAttribute('aria-expanded', String(is_open));
    panel.dataset.open = String(is_open);
  });
}

/**
 * Saving the page takes the second core; until Python is unpacked, its start needs both.
 * @param {Store} store
 * @param {() => void} act
 */
function afterUnpacking(store, act) {
  let is_done = false;
  store.watch(['boot'], ({ boot }) => {
    const is_unpacking =
      boot.kind === 'booting' && ['runtime', 'packages'].includes(boot.progress.step);
    if (is_done || is_unpacking) return;
    is_done = true;
    act();
  });
}

/**
 * @param {Store} store
 * @param {() => void} act
 */
function afterStart(store, act) {
  let is_done = false;
  store.watch(['boot'], ({ boot }) => {
    if (is_done || boot.kind === 'booting') return;
    is_done = true;
    act();
  });
}

/**
 * @param {Store} store
 * @param {MemoryBook} book
 * @param {MemoryGuard} guard
 */
function showMemory(store, book, guard) {
  const opener = part(document, 'memory-open', HTMLButtonElement);
  memoryView(/** @type {HTMLDialogElement} */ (view('memory')), opener, store, book);
  lostView(/** @type {HTMLDialogElement} */ (view('memory-lost')), store, book, guard);
}

/**
 * @param {Store} store
 * @param {PlanDesk} plans
 * @param {Recall} recall
 */
function showPlans(store, plans, recall) {
  const opener = part(document, 'plan-open', HTMLButtonElement);
  planDialogView(/** @type {HTMLDialogElement} */ (view('plan-dialog')), opener, store, plans);
  const message = part(view('composer'), 'text', HTMLTextAreaElement);
  recallView(/** @type {HTMLDetailsElement} */ (view('recall')), message, store, recall);
}

function start() {
  const store = new Store(initialState());
  const listener = new WorkerState(store, {
    onDead: (error) => worker.restart(error),
    onReplaced: () => {
      models.refreshShelf();
      search.forget();
    },
    onStorageClosed: () => guard.check(),
  });
  const worker = new WorkerClient(makeWorker, listener);
  const models = new ModelLoading(store, worker);
  const search = new SemanticSearch(store, worker, rememberedChoice('semantic_search'));
  const book = new MemoryBook(store, worker, saveFile);
  const guard = new MemoryGuard(store, worker);
  const chat = new Conversation(store, worker, (hint) => book.takeHint(hint));
  const copyText = (/** @type {string} */ text) => navigator.clipboard.writeText(text);
  const plans = new PlanDesk(store, worker, { saveFile, copyText });
  const restart = () => worker.restart(new CodedError('worker_lost', 'The engine was restarted.'));

  statusView(document.body, store);
  welcomeView(view('welcome'), store);
  modelsView(/** @type {HTMLFormElement} */ (view('models')), store, models);
  engineMemoryView(view('engine-memory'), store);
  transcriptView(view('transcript'), store, part(document, 'scroll', HTMLElement), {
    openPlan: (message) => plans.open(message),
    regenerate: () => chat.regenerate(),
    edit: () => chat.edit(),
    remember: (message) => book.rememberMessage(message),
  });
  composerView(/** @type {HTMLFormElement} */ (view('composer')), store, chat);
  const correct = () => book.correctByOffer();
  noticesView(view('notices'), store, { restart, reload: () => location.reload(), correct });
  settingsView(view('settings'), store);
  semanticSearchView(view('semantic-search'), store, search);
  factsView(view('facts'), store);
  planView(view('plan'), store);
  addMarkup('app/memory.html').then(
    () => showMemory(store, book, guard),
    (thrown) => store.say('memory', { code: coded(thrown).code, text: NO_MEMORY_VIEW }),
  );
  Promise.all([addMarkup('app/plan.html'), addMarkup('app/recall.html')]).then(
    () => showPlans(store, plans, new Recall(store, worker)),
    (thrown) => store.say('chat', { code: coded(thrown).code, text: NO_PLAN_VIEW }),
  );
  const attachDialog = /** @type {HTMLDialogElement} */ (view('attach'));
  attachView(attachDialog, view('composer'), store, new Attachments(store));
  bindPanel();
  models.loadLast();
  search.recall();
  models.refreshShelf();
  afterUnpacking(store, () => keepForOffline(store, restart));
  afterStart(store, holdVisit);
  keepStartImage(store);
}

start();
