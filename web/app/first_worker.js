/**
 * The engine's worker, asked for before the rest of the page has been fetched.
 * Gives the one that is on its way already, and after that new ones. A worker says nothing before it
 * is spoken to, so nothing is missed. Does not know messages.
 */

import { siteUrl } from './site_url.js';

/** @type {Worker | null} */
let first = start();
// Whoever asks then gets a new one, and hears what is wrong with it.
first.onerror = (event) => {
  event.preventDefault();
  first = null;
};

/** @returns {Worker} */
export function makeWorker() {
  const worker = first ?? start();
  first = null;
  return worker;
}

function start() {
  return new Worker(siteUrl('worker/worker.js'), { type: 'module' });
}
