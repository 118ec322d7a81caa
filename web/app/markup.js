/**
 * Markup that is not needed at the start, kept in files of its own.
 * Takes the path of a page's part; adds its elements and templates to this page. Does not know
 * what they are for.
 */

import { siteUrl } from './site_url.js';

const DEADLINE_MS = 30_000;

/** @param {string} path */
export async function addMarkup(path) {
  const response = await fetch(siteUrl(path), { signal: AbortSignal.timeout(DEADLINE_MS) });
  const parsed = new DOMParser().parseFromString(await response.text(), 'text/html');
  document.body.append(...parsed.body.children);
}
