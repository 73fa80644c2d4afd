/**
 * Text from the bytes of a header, which Node and busboy hand over with one character a byte: UTF-8, as clients send it,
 * or Latin-1, as old ones do. What has been decoded already (`filename*`) has no such bytes and stays as it is.
 */
export function textFromBytes(bytes: string): string {
  if (!/[\x80-\xff]/.test(bytes) || /[^\x00-\xff]/.test(bytes)) return bytes;
  try {
    return UTF8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return bytes;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The name of a file as errors and answers use it: what follows the last `/` or `\`, no control characters, NFC. */
export function fileNameOf(given: string): string {
  return clean(given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1));
}

/** The path of a file below the root of its form, folders kept. It can't leave that root. */
export function relativePathOf(given: string): string {
  return given
    .split(/[/\\]/)
    .map(clean)
    .filter(segment => segment !== '' && segment !== '.' && segment !== '..')
    .join('/');
}

/** The extension for a file on our disk: the one of its name where that is plain, else none. */
export function diskExtension(name: string): string {
  return /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
}

/** The names in their order, twins told apart: `a.pdf`, `a (2).pdf`. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const wanted = new Set(names);
  return names.map(name => {
    let distinct = name;
    // A made-up name must not take the name of a file that really has it.
    for (let n = 2; taken.has(distinct) || (n > 2 && wanted.has(distinct)); n += 1) distinct = numbered(name, n);
    taken.add(distinct);
    return distinct;
  });
}

function numbered(name: string, n: number): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? `${name.slice(0, dot)} (${n})${name.slice(dot)}` : `${name} (${n})`;
}

function clean(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, '').normalize('NFC');
}
