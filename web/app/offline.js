/**
 * Keeps this page for offline use, and swaps it for a newer version as a whole.
 * Takes the store; registers the service worker under the version of the asset list, so that a new
 * list is a new worker. Does not know what the assets are.
 */

import { siteUrl } from './site_url.js';

/** @typedef {import('./store.js').Store} Store */

const LIST_DEADLINE_MS = 5_000;
const SILENCE_MS = 15_000;

/**
 * @param {Store} store
 * @param {() => void} restart starts the engine anew
 */
export async function keepForOffline(store, restart) {
  if (!('serviceWorker' in navigator)) {
    store.update({ offline: { kind: 'unsupported' } });
    return;
  }
  let is_kept = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (is_kept) {
      sayUpdate(store);
      restartIfSilent(store, restart);
    }
    is_kept = true;
  });
  try {
    await register(store);
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    store.update({ offline: { kind: 'not_saved', text } });
  }
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
  if (registration.waiting) takeOverWhenStarted(registration.waiting, store);
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
 * Lets a saved newer version serve the next load. This page stays whole either way; only while it
 * starts it is left alone, because a request that meets the change may be lost.
 * @param {ServiceWorker} waiting
 * @param {Store} store
 */
function takeOverWhenStarted(waiting, store) {
  let is_asked = false;
  store.watch(['boot'], ({ boot }) => {
    if (is_asked || boot.kind === 'booting') return;
    is_asked = true;
    waiting.postMessage('take_over');
  });
}

/**
 * A request of the starting engine that meets the change may be lost, and nobody would be told.
 * @param {Store} store
 * @param {() => void} restart
 */
function restartIfSilent(store, restart) {
  const seen = store.state.boot;
  if (seen.kind !== 'booting') return;
  setTimeout(() => {
    if (store.state.boot === seen) restart();
  }, SILENCE_MS);
}

/** @param {Store} store */
function sayUpdate(store) {
  const text = 'A newer version of this page is saved. Loading it ends this conversation.';
  store.say('version', { level: 'info', code: 'update_saved', text, action: 'reload' });
}
