/** What a turn looked for in memory, what each lane gave, and why each candidate went in or out. */

import { fromTemplate, part, setTexts, show, showFacts } from '../dom.js';
import { nameReason, nameTier, words } from './plan_words.js';
import { listViews, tellGist } from './recall_words.js';

/** @typedef {import('../retrieval_protocol.js').Candidate} Candidate */
/** @typedef {import('../retrieval_protocol.js').Lane} Lane */
/** @typedef {import('../retrieval_protocol.js').Retrieval} Retrieval */
/** @typedef {import('../retrieval_protocol.js').ScorePart} ScorePart */
/** @typedef {import('../retrieval_protocol.js').Stage} Stage */

const PPM_PER_CENT = 10_000;
const SCORE_PER_POINT = 1_000_000;
const OWN_COLUMNS = 5;
const SHOWN_REASONS = 3;

/** @type {Readonly<Record<string, string>>} */
const RELEVANCE = Object.freeze({
  lexical_ppm: 'words',
  semantic_ppm: 'meaning',
  neighbour_ppm: 'neighbour',
  thread_ppm: 'conversation',
  author_ppm: 'who said it',
  time_ppm: 'time',
  exact_ppm: 'letter by letter',
  hop_ppm: 'second hop',
});

/**
 * @param {HTMLElement} root
 * @param {(record_id: string) => void} openRecord
 * @returns {{draw: (retrieval: Retrieval | null) => void}}
 */
export function planRecall(root, openRecord) {
  const body = fromTemplate('plan-recall-template');
  root.replaceChildren(body);
  // Wider than the screen: whoever has no pointer scrolls it with the arrow keys.
  part(body, 'candidates', HTMLElement).tabIndex = 0;
  part(body, 'rows', HTMLElement).addEventListener('click', ({ target }) => {
    const row = target instanceof Element && target.closest('tr');
    if (row instanceof HTMLElement && row.dataset.record) openRecord(row.dataset.record);
  });
  return {
    draw(retrieval) {
      root.hidden = retrieval === null;
      if (retrieval) drawRetrieval(body, retrieval);
    },
  };
}

/**
 * @param {HTMLElement} body
 * @param {Retrieval} retrieval
 */
function drawRetrieval(body, retrieval) {
  const { intent, candidates, lanes, stages } = retrieval;
  const asked = intent.need === 'needed' && lanes.some(({ status }) => status !== 'bypassed');
  part(body, 'gist', HTMLElement).textContent = asked
    ? tellGist(intent)
    : `${tellGist(intent)} No lane was asked.`;
  part(body, 'words-only', HTMLElement).hidden = !(asked && retrieval.lexical_only);
  showFacts(part(body, 'views', HTMLElement), listViews(intent));
  part(body, 'count', HTMLElement).textContent = countCandidates(retrieval);
  part(body, 'candidates', HTMLElement).hidden = candidates.length === 0;
  drawHeads(part(body, 'heads', HTMLElement), candidates[0]?.parts ?? []);
  part(body, 'rows', HTMLElement).replaceChildren(...candidates.map(drawCandidate));
  part(body, 'lanes', HTMLElement).replaceChildren(...lanes.map(drawLane));
  part(body, 'stages', HTMLElement).replaceChildren(...stages.map(drawStage));
  part(body, 'overlaps', HTMLElement).replaceChildren(...listOverlaps(retrieval).map(drawItem));
}

/** @param {Retrieval} retrieval */
function countCandidates({ candidates, indexed, strength_ppm, floor_ppm, followed }) {
  const kept = candidates.filter(({ outcome }) => outcome === 'in_prompt').length;
  const found = `${show(candidates.length, 'count')} of ${show(indexed, 'count')} kept memories came into question, ${kept} entered.`;
  if (candidates.length === 0) return found;
  const fit = `The best fits the question by ${cents(strength_ppm)}; below ${cents(floor_ppm)} relevance none enters.`;
  const hop = followed.length > 0 ? ` A second look followed: ${followed.join(', ')}.` : '';
  return `${found} ${fit}${hop}`;
}

/**
 * @param {HTMLElement} heads
 * @param {readonly ScorePart[]} parts
 */
function drawHeads(heads, parts) {
  const own = [...heads.children].slice(0, OWN_COLUMNS);
  heads.replaceChildren(
    ...own,
    ...parts.map(({ name, weight }) => {
      const head = document.createElement('th');
      head.scope = 'col';
      head.className = 'number';
      head.textContent = `${words(name)} (${weight})`;
      return head;
    }),
  );
}

/** @param {Candidate} candidate */
function drawCandidate(candidate) {
  const { record_id, text, lane, level, score, parts, outcome, tier } = candidate;
  const row = fromTemplate('candidate-row-template');
  row.dataset.record = record_id;
  row.dataset.kept = String(outcome === 'in_prompt');
  setTexts(row, {
    ...{ record: record_id, text, lane, level: words(level), outcome: tellOutcome(candidate) },
    score: (score / SCORE_PER_POINT).toFixed(1),
  });
  row.title = `${nameTier(tier)}. ${tellRelevance(candidate)}`;
  row.append(...parts.map(({ value_ppm }) => drawCell(cents(value_ppm), true)));
  return row;
}

/** @param {Candidate} candidate */
function tellOutcome({ outcome, relevance, relevance_ppm, is_new }) {
  const known = is_new ? '' : ', shown before';
  if (outcome !== 'in_prompt')
    return `left out: ${nameReason(outcome)} (relevance ${cents(relevance_ppm)})${known}`;
  const reasons = listStrongest(relevance).slice(0, SHOWN_REASONS);
  const because = reasons.length > 0 ? `by ${reasons.join(', ')}` : 'by command';
  return `in the prompt: ${because}; relevance ${cents(relevance_ppm)}${known}`;
}

/** @param {Candidate} candidate */
function tellRelevance({ relevance }) {
  const listed = listStrongest(relevance);
  return listed.length > 0 ? `Relevance by ${listed.join(', ')}.` : 'No relevance of its own.';
}

/**
 * Names what made a record relevant, strongest first.
 * @param {Candidate['relevance']} relevance
 */
function listStrongest(relevance) {
  return Object.entries(RELEVANCE)
    .map(([key, name]) => ({ name, ppm: relevance[key] ?? 0 }))
    .filter(({ ppm }) => ppm > 0)
    .sort((one, other) => other.ppm - one.ppm)
    .map(({ name, ppm }) => `${name} ${cents(ppm)}`);
}

/** @param {Lane} lane */
function drawLane({ lane, status, candidates, took_ms, limit_ms }) {
  const time = `${took_ms.toFixed(1)} of ${limit_ms} ms`;
  return drawTableRow(words(lane), [words(status)], [show(candidates, 'count'), time]);
}

/** @param {Stage} stage */
function drawStage({ stage, last_ms, p50_ms, p95_ms, count }) {
  const times = [last_ms, p50_ms, p95_ms].map((ms) => `${ms.toFixed(1)} ms`);
  return drawTableRow(words(stage), [], [...times, show(count, 'count')]);
}

/**
 * @param {string} name
 * @param {readonly string[]} texts
 * @param {readonly string[]} numbers
 */
function drawTableRow(name, texts, numbers) {
  const row = document.createElement('tr');
  const head = document.createElement('th');
  head.scope = 'row';
  head.textContent = name;
  row.append(
    head,
    ...texts.map((text) => drawCell(text, false)),
    ...numbers.map((text) => drawCell(text, true)),
  );
  return row;
}

/**
 * @param {string} text
 * @param {boolean} is_number
 */
function drawCell(text, is_number) {
  const cell = document.createElement('td');
  cell.textContent = text;
  if (is_number) cell.className = 'number';
  return cell;
}

/** @param {Retrieval} retrieval */
function listOverlaps({ groups, contradictions }) {
  const same = groups.map(
    ({ survivor_id, linked_ids }) => `${survivor_id} says the same as ${linked_ids.join(', ')}`,
  );
  const disputed = contradictions.map(({ subject, slot, record_ids, is_declared_update }) => {
    const update = is_declared_update ? '; the first replaces the others' : '';
    return `${[subject, slot].filter(Boolean).join(' ')}: ${record_ids.join(', ')} differ${update}`;
  });
  const all = [...same, ...disputed];
  return all.length > 0 ? all : ['none'];
}

/** @param {string} text */
function drawItem(text) {
  const item = document.createElement('li');
  item.textContent = text;
  return item;
}

/** @param {number} ppm */
function cents(ppm) {
  return `${Math.round(ppm / PPM_PER_CENT)} %`;
}
