/**
 * The sha256 of bytes as lower-case hexadecimal text, by the browser's own digest.
 * Takes bytes, gives text; knows nothing of where they came from.
 */

/**
 * @param {ArrayBuffer | Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<string>}
 */
export async function sha256(bytes) {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
