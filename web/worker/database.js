/**
 * The one database of this site: its stores, its versions, its opening.
 * Takes nothing; gives the open database, and notices when the browser takes it away. A newer page
 * in another tab may upgrade it at any time. Does not know what lies in the stores.
 */

import { CodedError } from '../app/coded_error.js';

const DATABASE_NAME = 'tinyloom';

const FIRST_AREAS = Object.freeze([
  'records',
  'heads',
  'plans',
  'choices',
  'startup',
  'outbox',
  'cursor',
]);
const SEARCH_AREA = 'search';
/** The areas of the ledger; the names are those of Python's storage port. */
export const LEDGER_AREAS = Object.freeze([...FIRST_AREAS, SEARCH_AREA]);
export const LEDGER_STATE = 'ledger_state';
export const BY_REVISION = 'by_revision';

/**
 * Each step takes a database one version up; none is ever changed once it was released.
 * @type {readonly ((database: IDBDatabase) => void)[]}
 */
const MIGRATIONS = Object.freeze([
  (database) => {
    database.createObjectStore('settings');
  },
  (database) => {
    for (const area of FIRST_AREAS) createArea(database, area);
    database.createObjectStore(LEDGER_STATE);
  },
  (database) => createArea(database, SEARCH_AREA),
]);

/**
 * @param {IDBDatabase} database
 * @param {string} area
 */
function createArea(database, area) {
  database.createObjectStore(area, { keyPath: 'key' }).createIndex(BY_REVISION, 'revision');
}

/** @type {Promise<IDBDatabase> | null} */
let opening = null;

/** @returns {Promise<IDBDatabase>} */
export function openDatabase() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE_NAME, MIGRATIONS.length);
    request.onupgradeneeded = ({ oldVersion }) => {
      for (const migrate of MIGRATIONS.slice(oldVersion)) migrate(request.result);
    };
    request.onsuccess = () => {
      const database = request.result;
      // A newer page in another tab must be able to upgrade; this one opens again when it needs to.
      database.onversionchange = () => {
        database.close();
        opening = null;
      };
      // The browser has taken it away, for example because its data were cleared.
      database.onclose = () => {
        opening = null;
      };
      resolve(database);
    };
    request.onerror = () => {
      opening = null;
      reject(refused(request.error));
    };
  });
  return opening;
}

/** @param {DOMException | null} cause */
export function refused(cause) {
  return new CodedError(
    'database_refused',
    `This browser refuses to keep data (${cause?.name ?? 'no reason given'}); it lasts until the tab closes.`,
    { name: cause?.name ?? 'UnknownError' },
  );
}
