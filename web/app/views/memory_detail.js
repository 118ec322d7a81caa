/** One record opened: its words, its history as a small graph, and the plans it stood in. */

import { part, setTexts, showFacts } from '../dom.js';
import { bindKeepRule, readKeep } from './memory_keep.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../memory_protocol.js').MemoryDetail} MemoryDetail */

const SVG = 'http://www.w3.org/2000/svg';
const ROW_HEIGHT = 34;
const GRAPH_WIDTH = 520;
const DOT_RADIUS = 5;
const DOT_X = 120;
const SHORT_CHARS = 48;
const HASH_CHARS = 12;
const PPM_PER_PERCENT = 10_000;
const MARKS = Object.freeze(['Tombstone', 'Retraction']);

const EDGE_NAMES = Object.freeze({
  supersedes: 'replaces',
  derived_from: 'made of',
  deletes: 'deletes',
  withdrawn_by: 'withdrawn by',
});

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {import('../memory_book.js').MemoryBook} book
 */
export function detailView(root, store, book) {
  /** @type {MemoryDetail | null} */
  let drawn = null;
  store.watch(['memory'], ({ memory: { detail } }) => {
    root.hidden = detail === null;
    if (!detail || detail === drawn) return;
    drawn = detail;
    setTexts(root, { words: detail.text, record: detail.record_json });
    showFacts(part(root, 'uses', HTMLElement), [
      ['Sources', detail.raw_sources.join(', ') || 'none'],
      ['Used in', describeUses(detail)],
      ...describeLineage(JSON.parse(detail.record_json)),
      ...detail.edges.map(describeEdge),
    ]);
    showFacts(
      part(root, 'turns', HTMLElement),
      detail.raw_turns.map(({ text }) => ['Said here', text]),
    );
    setKeep(root, detail);
    part(root, 'graph', HTMLElement).replaceChildren(drawGraph(detail));
    root.scrollIntoView({ block: 'nearest' });
  });
  bindKeeping(root, store, book);
  root.addEventListener('click', ({ target }) => {
    const id = target instanceof SVGElement ? target.dataset.record : undefined;
    if (id) book.show(id);
  });
}

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {import('../memory_book.js').MemoryBook} book
 */
function bindKeeping(root, store, book) {
  const form = part(root, 'keeping', HTMLFormElement);
  bindKeepRule(form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { detail } = store.state.memory;
    if (detail) {
      book.propose({ action: 'keep', record_id: detail.record_id, keep: readKeep(form) });
    }
  });
}

/**
 * @param {HTMLElement} root
 * @param {MemoryDetail} detail
 */
function setKeep(root, { record_id, nodes }) {
  const form = part(root, 'keeping', HTMLFormElement);
  const node = nodes.find((known) => known.record_id === record_id);
  form.hidden = node?.standing !== 'active' || MARKS.includes(node.kind);
  if (node) part(form, 'rule', HTMLSelectElement).value = node.keep.rule;
}

/**
 * The lineage of a summary; other records have none.
 * @param {{kind: string, confidence_ppm: number, payload: Record<string, any>}} record
 * @returns {[name: string, value: string][]}
 */
function describeLineage({ kind, confidence_ppm, payload }) {
  if (kind !== 'ShortTermSummary') return [];
  return [
    ['Written by', `${payload.summariser}, version ${payload.summariser_version}`],
    ['Rules', payload.prompt_policy_hash.slice(0, HASH_CHARS)],
    ['Left out', (payload.omissions ?? []).join('; ') || 'nothing'],
    ['Sure', `${Math.round(confidence_ppm / PPM_PER_PERCENT)} %`],
  ];
}

/** @param {MemoryDetail} detail */
function describeUses({ plans }) {
  const shown = plans.map(
    ({ at, plan_hash }) => `${at.slice(0, 16)} ${plan_hash.slice(0, HASH_CHARS)}`,
  );
  return shown.join(', ') || 'no plan yet';
}

/**
 * @param {import('../memory_protocol.js').HistoryEdge} edge
 * @returns {[name: string, value: string]}
 */
function describeEdge({ begin, end, kind }) {
  return [begin, `${EDGE_NAMES[kind]} ${end}`];
}

/**
 * Draws records below each other, oldest first, and their links as arcs to the left.
 * @param {MemoryDetail} detail
 */
function drawGraph({ record_id, nodes, edges, gone_ids }) {
  const names = new Map(nodes.map((node) => [node.record_id, shorten(node.text)]));
  for (const id of gone_ids) names.set(id, `${id} (not here)`);
  const places = new Map(
    [...names.keys()].map((id, index) => [id, index * ROW_HEIGHT + ROW_HEIGHT / 2]),
  );
  const height = names.size * ROW_HEIGHT;
  const graph = element('svg', { viewBox: `0 0 ${GRAPH_WIDTH} ${height}`, role: 'img' });
  graph.setAttribute('aria-label', `History: ${names.size} records, ${edges.length} links`);
  for (const { begin, end, kind } of edges) {
    const [from, to] = [places.get(begin) ?? 0, places.get(end) ?? 0];
    const reach = DOT_X - Math.min(100, 20 + Math.abs(from - to) / 2);
    const path = `M ${DOT_X} ${from} C ${reach} ${from}, ${reach} ${to}, ${DOT_X} ${to}`;
    graph.append(element('path', { d: path, 'data-edge': kind }));
  }
  for (const [id, y] of places) {
    const circle = { cx: DOT_X, cy: y, r: DOT_RADIUS, 'data-record': id };
    const label = element('text', { x: DOT_X + 12, y: y + 5, 'data-record': id });
    label.textContent = names.get(id) || id;
    if (id === record_id) label.dataset.current = 'true';
    graph.append(element('circle', circle), label);
  }
  return graph;
}

/** @param {string} text */
function shorten(text) {
  return text.length > SHORT_CHARS ? `${text.slice(0, SHORT_CHARS).trimEnd()} …` : text;
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
function element(name, attributes) {
  const made = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
