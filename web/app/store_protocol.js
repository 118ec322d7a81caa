/**
 * The messages about kept model files, as types; the worker's JavaScript answers them.
 */

/** @typedef {import('./protocol.js').Nothing} Nothing */
/** @typedef {import('./protocol.js').OpenedModel} OpenedModel */

/**
 * A model that can be loaded: kept in this browser, offered by the server, or both.
 * @typedef {object} ShelfEntry
 * @property {string} sha256
 * @property {string} label
 * @property {number} file_bytes
 * @property {boolean} is_stored
 * @property {boolean} is_served
 */

/**
 * @typedef {object} Shelf
 * @property {'origin_private' | 'cache' | 'memory'} storage
 * @property {boolean} is_server_reached
 * @property {readonly ShelfEntry[]} models
 * @property {readonly ShelfEntry[]} embedders
 */

/**
 * The model that was loaded last, with what its checksum was found to be.
 * @typedef {object} LastModel
 * @property {string} sha256
 * @property {string} label
 * @property {import('./protocol.js').EngineWish} engine
 * @property {import('./protocol.js').Checksum} known_checksum
 */

/**
 * Kind, payload and value of each request, tied together.
 * @typedef {{
 *   'store.list': {payload: Nothing, value: Shelf},
 *   'store.open': {payload: {sha256: string}, value: OpenedModel},
 *   'store.open_last': {payload: Nothing, value: {opened: OpenedModel, last: LastModel}},
 *   'store.remember': {payload: {model: LastModel | null}, value: Nothing},
 *   'store.import': {payload: {name: string}, value: OpenedModel},
 *   'store.keep': {payload: {sha256: string}, value: {is_kept: boolean}},
 *   'store.remove': {payload: {sha256: string}, value: {was_stored: boolean}},
 * }} StoreCalls
 */

export {};
