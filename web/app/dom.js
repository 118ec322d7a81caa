/**
 * Five small ways to reach the page's markup.
 * Takes roots and names of parts; gives elements of the stated type or fails with their name.
 */

/**
 * Finds the element below the root whose `data-part` is the name.
 * @template {Element} E
 * @param {ParentNode} root
 * @param {string} name
 * @param {new () => E} type
 * @returns {E}
 */
export function part(root, name, type) {
  const found = root.querySelector(`[data-part="${name}"]`);
  if (!(found instanceof type)) throw new Error(`The page has no ${name} of type ${type.name}.`);
  return found;
}

/**
 * Makes the first element of a template.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function fromTemplate(id) {
  const template = document.getElementById(id);
  if (!(template instanceof HTMLTemplateElement))
    throw new Error(`The page has no template ${id}.`);
  const copy = document.importNode(template.content, true).firstElementChild;
  return /** @type {HTMLElement} */ (copy);
}

/**
 * Fills the parts of an element with text.
 * @param {ParentNode} root
 * @param {Record<string, string>} texts
 */
export function setTexts(root, texts) {
  for (const [name, text] of Object.entries(texts))
    part(root, name, HTMLElement).textContent = text;
}

/**
 * Redraws a description list.
 * @param {HTMLElement} list
 * @param {readonly (readonly [name: string, value: string, title?: string])[]} rows
 */
export function showFacts(list, rows) {
  list.replaceChildren(
    ...rows.map(([name, value, title]) => {
      const row = fromTemplate('fact-template');
      setTexts(row, { name, value });
      if (title) part(row, 'value', HTMLElement).title = title;
      return row;
    }),
  );
}

const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB'];

/**
 * Writes a quantity the same way everywhere: 1,234 or 1.2 MB.
 * @param {number} amount
 * @param {'bytes' | 'count' | 'rate'} kind
 */
export function show(amount, kind) {
  if (kind === 'count') return amount.toLocaleString('en');
  if (kind === 'rate') return amount.toLocaleString('en', { maximumFractionDigits: 1 });
  let unit = 0;
  let size = amount;
  while (size >= 1000 && unit < BYTE_UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || size >= 100 ? 0 : 1;
  return `${size.toLocaleString('en', { maximumFractionDigits: digits })} ${BYTE_UNITS[unit]}`;
}
