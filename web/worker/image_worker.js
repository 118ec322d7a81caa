/**
 * A worker that makes the image of the started Python, proves it and keeps it.
 * Takes nothing but the files of its own version; says one word when it is done. The page starts it
 * when nothing else is going on and may end it at any moment: nothing half-made is used.
 */

import { siteUrl } from '../app/site_url.js';
import { keepImage, refuseImage } from './image_store.js';
import { makeImage } from './make_image.js';
import { IMAGE_MODULE, restoreImage } from './restore_image.js';

/** @typedef {'kept' | 'refused'} Outcome */

/** @returns {Promise<Outcome>} */
async function makeAndKeep() {
  const { version, files } = await (await fetch(siteUrl('assets.json'))).json();
  try {
    const { content, bytes } = await makeImage(files);
    await prove({ content, bytes: bytes.buffer, verified: Promise.resolve() });
    await keepImage(version, content, bytes);
    return 'kept';
  } catch {
    // This browser cannot do it; Python starts as usual, which is slower and always works.
    await refuseImage(version);
    return 'refused';
  }
}

/**
 * An image is kept only when it has worked once in this very browser.
 * @param {import('./image_store.js').Image} image
 */
async function prove(image) {
  const runtime = await restoreImage(image);
  const module = runtime.pyimport(IMAGE_MODULE);
  const answer = module.rehearse();
  module.destroy();
  if (answer !== image.content.rehearsal)
    throw new Error('the image answers otherwise than the Python that it was taken of');
}

self.postMessage(await makeAndKeep());
