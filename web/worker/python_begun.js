/**
 * What every start of Python needs, asked for as soon as the worker begins.
 * Gives the asset list of this very version and the kept image, both while they are on their way.
 * Python itself is being compiled meanwhile.
 */

import { siteUrl } from '../app/site_url.js';
import { readImage } from './image_store.js';
import './pyodide_start.js';

/** @typedef {{version: string, files: {path: string, role: string}[]}} AssetList */

const LIST_DEADLINE_MS = 60_000;

/** @type {Promise<AssetList>} */
export const assets = readAssets();

const version = assets.then((list) => list.version);
version.catch(() => {}); // Said by whoever needs the list.

export const image = readImage(version);

/** @returns {Promise<AssetList>} */
async function readAssets() {
  const signal = AbortSignal.timeout(LIST_DEADLINE_MS);
  const response = await fetch(siteUrl('assets.json'), { signal });
  return response.json();
}
