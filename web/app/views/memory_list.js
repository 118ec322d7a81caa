/** Everything remembered: search, filters, what waits, what is kept; one row a record. */

import { fromTemplate, part, setTexts, show } from '../dom.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../memory_protocol.js').GroupName} GroupName */
/** @typedef {import('../memory_protocol.js').MemoryPage} MemoryPage */
/** @typedef {import('../memory_protocol.js').MemoryRow} MemoryRow */
/** @typedef {import('../memory_book.js').MemoryBook} MemoryBook */

/** @type {readonly GroupName[]} */
const GROUPS = Object.freeze(['standing', 'kind', 'subject', 'scope', 'tier', 'source']);

/** @type {Readonly<Record<string, string>>} */
const KIND_NAMES = Object.freeze({
  UserPreferenceAssertion: 'Profile',
  LongTermMemoryRecord: 'Fact',
  ShortTermSummary: 'Summary',
  Tombstone: 'Deletion mark',
  Retraction: 'Taken back',
});

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {MemoryBook} book
 */
export function listView(root, store, book) {
  bindSearch(root, book);
  const rows = part(root, 'rows', HTMLElement);
  store.watch(['memory'], ({ memory: { page } }) => {
    if (!page || rows.dataset.revision === stampOf(page)) return;
    rows.dataset.revision = stampOf(page);
    rows.replaceChildren(...page.rows.map((row) => drawRow(row, book)));
    part(root, 'count', HTMLElement).textContent = describeCount(page);
    part(root, 'more', HTMLElement).hidden = page.rows.length === page.total;
    for (const group of GROUPS) fillFilter(root, group, page.groups[group]);
    part(root, 'rebuild-all', HTMLElement).hidden = !page.groups.standing.withdrawn;
  });
  part(root, 'more', HTMLElement).addEventListener('click', () => book.showMore());
  part(root, 'rebuild-all', HTMLElement).addEventListener('click', () =>
    book.propose({ action: 'rebuild', record_ids: [] }),
  );
  part(root, 'forget-chosen', HTMLElement).addEventListener('click', () => {
    const record_ids = [...rows.querySelectorAll('input:checked')].map(
      (box) => /** @type {HTMLInputElement} */ (box).value,
    );
    if (record_ids.length > 0) book.propose({ action: 'forget', record_ids });
  });
}

/**
 * The list is drawn anew only when it is another one, so that choices and focus stay.
 * @param {MemoryPage} page
 */
function stampOf(page) {
  return `${page.revision}/${page.total}/${page.rows.map((row) => row.record_id).join()}`;
}

/**
 * @param {HTMLElement} root
 * @param {MemoryBook} book
 */
function bindSearch(root, book) {
  const search = part(root, 'search', HTMLInputElement);
  search.addEventListener('input', () => book.search(search.value));
  for (const group of GROUPS) {
    const choice = part(root, `filter-${group}`, HTMLSelectElement);
    choice.addEventListener('change', () => book.filter(group, choice.value));
  }
}

/**
 * @param {HTMLElement} root
 * @param {GroupName} group
 * @param {Record<string, number>} counts
 */
function fillFilter(root, group, counts) {
  const choice = part(root, `filter-${group}`, HTMLSelectElement);
  const chosen = choice.value;
  const names = Object.keys(counts).filter((name) => name !== '');
  if (chosen && !names.includes(chosen)) names.push(chosen);
  choice.replaceChildren(
    new Option('all', ''),
    ...names.map((name) => new Option(`${KIND_NAMES[name] ?? name} (${counts[name] ?? 0})`, name)),
  );
  choice.value = chosen;
}

/** @param {MemoryPage} page */
function describeCount(page) {
  const pending = page.groups.standing.pending ?? 0;
  const waiting = pending > 0 ? `, ${show(pending, 'count')} waiting for your word` : '';
  return `${show(page.total, 'count')} records${waiting}`;
}

/**
 * @param {MemoryRow} row
 * @param {MemoryBook} book
 */
function drawRow(row, book) {
  const element = fromTemplate('memory-row-template');
  element.dataset.standing = row.standing;
  setTexts(element, { text: describeText(row), about: describeRow(row) });
  const choose = part(element, 'choose', HTMLInputElement);
  choose.value = row.record_id;
  const is_mark = row.kind === 'Tombstone' || row.kind === 'Retraction';
  choose.disabled = is_mark;
  choose.setAttribute('aria-label', `Choose: ${describeText(row)}`);
  const is_pending = row.standing === 'pending';
  const is_summary = row.kind === 'ShortTermSummary' && row.tier === 9;
  bind(element, 'confirm', is_pending || is_summary, () =>
    book.propose({ action: 'confirm', record_id: row.record_id }),
  );
  bind(element, 'reject', is_pending, () =>
    book.propose({ action: 'reject', record_id: row.record_id, never: false }),
  );
  bind(element, 'never', is_pending, () =>
    book.propose({ action: 'reject', record_id: row.record_id, never: true }),
  );
  const is_open = ['pending', 'active', 'withdrawn'].includes(row.standing);
  const is_wording = is_open && !is_mark;
  bind(element, 'correct', is_wording, () => edit(element, row, book));
  bind(element, 'rebuild', row.standing === 'withdrawn', () =>
    book.propose({ action: 'rebuild', record_ids: [row.record_id] }),
  );
  bind(element, 'show', true, () => book.show(row.record_id));
  bind(element, 'forget', !is_mark, () =>
    book.propose({ action: 'forget', record_ids: [row.record_id] }),
  );
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {boolean} is_offered
 * @param {() => void} act
 */
function bind(element, name, is_offered, act) {
  const button = part(element, name, HTMLButtonElement);
  button.hidden = !is_offered;
  button.addEventListener('click', act);
}

/**
 * Opens the words of a row for editing.
 * @param {HTMLElement} element
 * @param {MemoryRow} row
 * @param {MemoryBook} book
 */
function edit(element, row, book) {
  const form = part(element, 'edit', HTMLFormElement);
  const text = part(form, 'new-text', HTMLTextAreaElement);
  form.hidden = false;
  text.value = row.text;
  text.focus();
  form.onsubmit = (event) => {
    event.preventDefault();
    form.hidden = true;
    const { record_id } = row;
    book.propose({ action: 'correct', record_id, text: text.value, blacken: true });
  };
}

/** @param {MemoryRow} row */
function describeText(row) {
  if (row.kind === 'Tombstone') return 'Deleted; the text is gone, this mark stays.';
  if (row.kind === 'Retraction') return 'A message was taken back.';
  return row.is_cut ? `${row.text} …` : row.text;
}

/** @param {MemoryRow} row */
function describeRow(row) {
  const keep = {
    forever: '',
    session: 'this visit only',
    until: `until ${row.keep.until.slice(0, 10)}`,
  };
  return [
    KIND_NAMES[row.kind] ?? row.kind,
    row.standing,
    row.tier === null ? 'in no tier' : `tier ${row.tier}`,
    row.subject,
    row.source,
    row.observed_at.slice(0, 10),
    keep[row.keep.rule],
  ]
    .filter((word) => word !== '')
    .join(' · ');
}
