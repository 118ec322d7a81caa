/**
 * The service worker: keeps exactly what assets.json lists, by hash, and serves it from then on.
 * Its own address names the version that it keeps; one cache holds one version, so a page is never
 * put together from two. Models, and everything that is not listed, pass through untouched.
 */

/** @typedef {{path: string, sha256: string}} Asset */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

const VERSION = new URL(worker.location.href).searchParams.get('version') ?? '';
const CACHE_PREFIX = 'tinyloom-page-';
const CACHE_NAME = `${CACHE_PREFIX}${VERSION}`;
const LIST_PATH = 'assets.json';
const START_PATH = 'index.html';
const NEVER_KEPT = Object.freeze(['models/', 'sw.js']);
const FETCH_DEADLINE_MS = 60_000;
const PARALLEL_FETCHES = 4;

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('message', (event) => event.waitUntil(answerPage(event)));
worker.addEventListener('fetch', (event) => {
  const path = findOwnPath(event.request);
  if (path !== null) event.respondWith(answer(event.request, path));
});

/** Fills the cache; the list itself goes in last and so marks that all of it was there. */
async function install() {
  const list = await fetchList();
  const cache = await caches.open(CACHE_NAME);
  await fill(cache, await readAssets(list.clone()));
  await cache.put(addressOf(LIST_PATH), list);
}

async function activate() {
  const names = await caches.keys();
  const older = names.filter((name) => name.startsWith(CACHE_PREFIX) && name !== CACHE_NAME);
  await Promise.all(older.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** @param {ExtendableMessageEvent} event */
async function answerPage({ data }) {
  if (data === 'heal') await heal();
  if (data === 'take_over') await worker.skipWaiting();
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
 * @param {Request} request
 * @param {string} path
 */
async function answer(request, path) {
  const cache = await caches.open(CACHE_NAME);
  if (request.mode === 'navigate') await heal().catch(() => dropIfReplaced(cache));
  const kept = await cache.match(addressOf(path));
  return kept ?? fetch(request);
}

/** Fetches again what the browser has thrown away. */
async function heal() {
  const cache = await caches.open(CACHE_NAME);
  const list = await cache.match(addressOf(LIST_PATH));
  if (list) await fill(cache, await readAssets(list));
}

/**
 * A version with holes that the server no longer has cannot be completed: rather none than a mix.
 * Without a server the holes stay, and what is kept is served.
 * @param {Cache} cache
 */
async function dropIfReplaced(cache) {
  const list = await fetchList().catch(() => null);
  if (list) return;
  const online = await fetch(addressOf(`${LIST_PATH}?latest`)).catch(() => null);
  if (!online?.ok) return;
  const requests = await cache.keys();
  await Promise.all(requests.map((request) => cache.delete(request)));
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
 * Fetches what is missing; what an interrupted install brought already stays.
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

/** @param {string} path */
function addressOf(path) {
  return new URL(path, worker.registration.scope).href;
}
