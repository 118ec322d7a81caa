/**
 * A worker that makes the image of the started Python, proves it and keeps it.
 * Takes nothing but the files of its own version; says one word when it is done. The page starts it
 * when nothing else is going on and may end it at any moment: nothing half-made is used.
 */

import { siteUrl } from '../app/site_url.js';
import { hasImage, keepImage, refuseImage } from './image_store.js';
import { makeImage } from './make_image.js';
import { IMAGE_MODULE, restoreImage } from './restore_image.js';

const LOCK = 'tinyloom-start-image';

/** @typedef {'kept' | 'refused' | 'elsewhere'} Outcome `elsewhere`: another tab is at it */

/** @returns {Promise<Outcome>} */
async function makeAndKeep() {
  const { version, files } = await (await fetch(siteUrl('assets.json'))).json();
  if (await hasImage(version)) return 'kept'; // of another tab
  try {
    const made = await makeImage(files);
    await prove(made);
    await keepImage(version, made);
    return 'kept';
  } catch {
    // This browser cannot do it; Python starts as usual, which is slower and always works.
    await refuseImage(version);
    return 'refused';
  }
}

/**
 * An image is kept only when it has worked once in this very browser.
 * @param {{content: import('./image_store.js').Content, code: ArrayBuffer, state: ArrayBuffer}} made
 */
async function prove({ content, code, state }) {
  const [ready, read, held] = [Promise.resolve(), Promise.resolve(code), Promise.resolve(state)];
  const runtime = await restoreImage({ content, code: read, state: held, verified: ready });
  const module = runtime.pyimport(IMAGE_MODULE);
  const answer = module.rehearse();
  module.destroy();
  if (answer !== content.rehearsal)
    throw new Error('the image answers otherwise than the Python that it was taken of');
}

/** @type {Outcome} */
const outcome = await navigator.locks.request(LOCK, { ifAvailable: true }, (lock) =>
  lock ? makeAndKeep() : 'elsewhere',
);
self.postMessage(outcome);
