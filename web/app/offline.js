/**
 * Keeps this page for offline use, and swaps it for a newer version as a whole.
 * Takes the store; registers the service worker under the version of the asset list, so that a new
 * list is a new worker. Does not know what the assets are.
 */

import { siteUrl } from './site_url.js';

/** @typedef {import('./store.js').Store} Store */

const LIST_DEADLINE_MS = 5_000;
const TAKE_OVER_DEADLINE_MS = 10_000;

/** @param {Store} store */
export async function keepForOffline(store) {
  if (!('serviceWorker' in navigator)) {
    store.update({ offline: { kind: 'unsupported' } });
    return;
  }
  const had_controller = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    // Half-started under one version, it must not go on under another; there is nothing to lose.
    if (had_controller && store.state.boot.kind === 'booting') location.reload();
    else if (had_controller) sayReplaced(store);
  });
  try {
    await register(store);
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    store.update({ offline: { kind: 'not_saved', text } });
  }
}

/** Loads the saved newer version, for every tab of this page. */
export async function update() {
  const registration = await navigator.serviceWorker.getRegistration();
  if (registration?.waiting) await takeOver(registration);
  location.reload();
}

/** @param {Store} store */
async function register(store) {
  const version = await latestVersion();
  if (version === null) {
    const is_saved = navigator.serviceWorker.controller !== null;
    store.update({
      offline: is_saved ? { kind: 'saved' } : { kind: 'not_saved', text: 'the server is gone' },
    });
    return;
  }
  const script = siteUrl(`sw.js?version=${version}`);
  const registration = await navigator.serviceWorker.register(script, { updateViaCache: 'none' });
  registration.active?.postMessage('heal');
  registration.addEventListener('updatefound', () => follow(registration, store));
  follow(registration, store);
}

/**
 * @param {ServiceWorkerRegistration} registration
 * @param {Store} store
 */
function follow(registration, store) {
  const installing = registration.installing;
  if (installing) {
    store.update({ offline: { kind: 'saving' } });
    installing.addEventListener('statechange', () => follow(registration, store));
  } else if (registration.active) {
    store.update({ offline: { kind: 'saved' } });
  } else {
    store.update({ offline: { kind: 'not_saved', text: 'not all files could be saved' } });
  }
  if (registration.waiting && navigator.serviceWorker.controller) sayUpdate(store);
}

/** @returns {Promise<string | null>} null when the server cannot be reached */
async function latestVersion() {
  try {
    const signal = AbortSignal.timeout(LIST_DEADLINE_MS);
    const response = await fetch(siteUrl('assets.json?latest'), { signal, cache: 'no-store' });
    return response.ok ? (await response.json()).version : null;
  } catch {
    return null;
  }
}

/**
 * @param {ServiceWorkerRegistration} registration
 * @returns {Promise<void>} done when the saved version serves this page, or does not answer
 */
function takeOver({ waiting }) {
  return new Promise((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
    waiting?.postMessage('take_over');
    setTimeout(resolve, TAKE_OVER_DEADLINE_MS);
  });
}

/** @param {Store} store */
function sayUpdate(store) {
  const text = 'A newer version of this page is saved. Loading it ends this conversation.';
  store.say('info', { code: 'update_saved', text, action: 'update' });
}

/** @param {Store} store */
function sayReplaced(store) {
  const text =
    'Another tab loaded a newer version of this page. Load this one again when you are done.';
  store.say('info', { code: 'page_replaced', text, action: 'reload' });
}
