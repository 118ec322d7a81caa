/**
 * Addresses of this site's own files, wherever the site is mounted.
 * Takes a path below the site's root, gives an absolute address.
 */

const ROOT = new URL('../', import.meta.url);

/** @param {string} path */
export function siteUrl(path) {
  return new URL(path, ROOT).href;
}
