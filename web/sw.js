/**
 * The service worker: keeps exactly what assets.json lists, by hash, and serves it from then on.
 * Its own address names the version that it keeps; one cache holds one version. A tab stays with
 * the version that it was loaded with until it is loaded again, so a page is never put together
 * from two. Models, and everything that is not listed, pass through untouched.
 */

/** @typedef {{path: string, sha256: string}} Asset */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

const VERSION = new URL(worker.location.href).searchParams.get('version') ?? '';
const CACHE_PREFIX = 'tinyloom-page-';
const TABS_CACHE = 'tinyloom-open-tabs';
const LIST_PATH = 'assets.json';
const START_PATH = 'index.html';
const NEVER_KEPT = Object.freeze(['models/', 'sw.js']);
const FETCH_DEADLINE_MS = 60_000;
const PARALLEL_FETCHES = 4;
/** The longest that a tab takes from its first request until the browser lists it. */
const LOADING_MS = 10_000;

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('message', (event) => event.waitUntil(answerPage(event)));
worker.addEventListener('fetch', (event) => {
  const path = findOwnPath(event.request);
  if (path !== null) event.respondWith(answer(event, path));
});

/** Fills the cache, going on with what an interrupted install has brought already. */
async function install() {
  await complete(await openVersion(VERSION), await fetchList());
}

async function activate() {
  // Tabs that no worker has served yet came from the server, which has this very version.
  const tabs = await worker.clients.matchAll({ includeUncontrolled: true, type: 'all' });
  for (const { id } of tabs) if (!(await versionOf(id))) await bind(id, VERSION);
  await worker.clients.claim();
}

/** @param {ExtendableMessageEvent} event */
async function answerPage({ data }) {
  if (data === 'take_over') await worker.skipWaiting();
  if (data === 'heal') {
    await heal();
    await dropUnusedVersions();
  }
}

/**
 * The path below the site's root if this worker may answer for it, else null.
 * @param {Request} request
 */
function findOwnPath(request) {
  const root = worker.registration.scope;
  const { href, search } = new URL(request.url);
  if (request.method !== 'GET' || !href.startsWith(root)) return null;
  const path = new URL(href).pathname.slice(new URL(root).pathname.length);
  if (NEVER_KEPT.some((start) => path.startsWith(start))) return null;
  if (path === LIST_PATH && search !== '') return null; // The page asks the server for news.
  return path === '' ? START_PATH : path;
}

/**
 * @param {FetchEvent} event
 * @param {string} path
 */
async function answer({ request, clientId, resultingClientId }, path) {
  const is_page = request.mode === 'navigate';
  if (is_page) await heal().catch(dropIfReplaced);
  const version = (!is_page && (await versionOf(clientId))) || VERSION;
  const [kept] = await Promise.all([
    openVersion(version).then((cache) => cache.match(addressOf(path))),
    // A worker that a tab starts is of the tab's version; a newer service worker must know it.
    bind(resultingClientId, version),
  ]);
  return kept ?? fetch(request);
}

/** @type {Map<string, string>} */
const known = new Map();

/**
 * Remembers, beyond this worker's own life, which version a tab was loaded with.
 * @param {string} client
 * @param {string} version
 */
async function bind(client, version) {
  if (!client || known.get(client) === version) return;
  known.set(client, version);
  const binding = Response.json({ version, bound_ms: Date.now() });
  await (await caches.open(TABS_CACHE)).put(addressOf(client), binding);
}

/**
 * @param {string} client
 * @returns {Promise<string | undefined>}
 */
async function versionOf(client) {
  if (!client) return undefined;
  const remembered = known.get(client);
  if (remembered) return remembered;
  const version = (await readBinding(addressOf(client)))?.version;
  if (version) known.set(client, version);
  return version;
}

/**
 * @param {string} address
 * @returns {Promise<{version: string, bound_ms: number} | undefined>}
 */
async function readBinding(address) {
  return (await (await caches.open(TABS_CACHE)).match(address))?.json();
}

/**
 * Deletes our older versions, once no tab was loaded with them. A tab that is only being loaded is
 * in no list yet, so whoever was bound a moment ago counts as open.
 */
async function dropUnusedVersions() {
  await new Promise((resolve) => setTimeout(resolve, LOADING_MS));
  const before_ms = Date.now() - LOADING_MS;
  const tabs = await worker.clients.matchAll({ includeUncontrolled: true, type: 'all' });
  const open = new Set(tabs.map(({ id }) => addressOf(id)));
  const bindings = await caches.open(TABS_CACHE);
  const used = new Set([VERSION]);
  for (const request of await bindings.keys()) {
    const bound = await readBinding(request.url);
    if (bound && (open.has(request.url) || bound.bound_ms > before_ms)) used.add(bound.version);
    else await bindings.delete(request);
  }
  // The version that waits to take over has no tab yet.
  if (worker.registration.installing || worker.registration.waiting) return;
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
  const kept = names.map((name) => name.slice(CACHE_PREFIX.length));
  await Promise.all(kept.filter((version) => !used.has(version)).map(dropVersion));
}

/** Fetches again what the browser has thrown away, be it the list itself. */
async function heal() {
  const cache = await openVersion(VERSION);
  await complete(cache, (await cache.match(addressOf(LIST_PATH))) ?? (await fetchList()));
}

/**
 * The list goes in last and so marks that all of it was there.
 * @param {Cache} cache
 * @param {Response} list
 */
async function complete(cache, list) {
  await fill(cache, await readAssets(list.clone()));
  await cache.put(addressOf(LIST_PATH), list);
}

/**
 * A version with holes that the server no longer has cannot be completed: rather none than a mix.
 * Without a server the holes stay, and what is kept is served.
 */
async function dropIfReplaced() {
  const address = addressOf(`${LIST_PATH}?latest`);
  const response = await fetch(address, { cache: 'no-store' }).catch(() => null);
  if (!response?.ok || (await response.json()).version === VERSION) return;
  await dropVersion(VERSION);
}

/** @returns {Promise<Response>} the asset list of exactly this version */
async function fetchList() {
  const signal = AbortSignal.timeout(FETCH_DEADLINE_MS);
  const response = await fetch(addressOf(`${LIST_PATH}?latest`), { cache: 'no-store', signal });
  const { version } = await response.clone().json();
  if (version !== VERSION) throw new Error(`assets.json is of version ${version}, not ${VERSION}`);
  return response;
}

/**
 * @param {Response} list
 * @returns {Promise<Asset[]>}
 */
async function readAssets(list) {
  return (await list.json()).files;
}

/**
 * Fetches what is missing.
 * @param {Cache} cache
 * @param {Asset[]} assets
 */
async function fill(cache, assets) {
  const kept = new Set((await cache.keys()).map((request) => request.url));
  const missing = assets.filter(({ path }) => !kept.has(addressOf(path)));
  const fetchNext = async () => {
    for (let asset = missing.pop(); asset; asset = missing.pop()) await fetchInto(cache, asset);
  };
  await Promise.all(Array.from({ length: PARALLEL_FETCHES }, fetchNext));
}

/**
 * @param {Cache} cache
 * @param {Asset} asset
 */
async function fetchInto(cache, { path, sha256 }) {
  const signal = AbortSignal.timeout(FETCH_DEADLINE_MS);
  const response = await fetch(addressOf(path), { cache: 'no-cache', signal });
  const found = response.ok ? await digest(await response.clone().arrayBuffer()) : response.status;
  if (found !== sha256) throw new Error(`${path}: expected sha256 ${sha256}, found ${found}`);
  await cache.put(addressOf(path), response);
}

/** @param {ArrayBuffer} bytes */
async function digest(bytes) {
  const hash = await crypto.subtle.digest('SHA-256', bytes);
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @type {Map<string, Promise<Cache>>} */
const opened = new Map();

/** @param {string} version */
function openVersion(version) {
  const cache = opened.get(version) ?? caches.open(`${CACHE_PREFIX}${version}`);
  opened.set(version, cache);
  return cache;
}

/** @param {string} version */
async function dropVersion(version) {
  opened.delete(version);
  await caches.delete(`${CACHE_PREFIX}${version}`);
}

/** @param {string} path */
function addressOf(path) {
  return new URL(path, worker.registration.scope).href;
}
