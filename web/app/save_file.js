/**
 * Hands a text to the person as a file.
 * Takes a name and a text; knows nothing of what is in it.
 */

/**
 * @param {string} name
 * @param {string} text
 */
export function saveFile(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
