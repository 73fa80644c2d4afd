/**
 * `Content-Disposition` for a file of this name, by RFC 6266: a plain `filename` for every client, and `filename*` with the
 * true name where it is more than ASCII.
 */
export function contentDisposition(name: string): string {
  // A lone surrogate has no UTF-8.
  const text = name.toWellFormed();
  const ascii = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/gu, '_');
  const plain = `attachment; filename="${ascii.replace(/["\\]/g, '\\$&')}"`;
  return /^[\x20-\x7e]*$/.test(text) ? plain : `${plain}; filename*=UTF-8''${extended(text)}`;
}

/** RFC 8187: letters, digits and a few signs as they are, all else percent-encoded UTF-8. */
function extended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
