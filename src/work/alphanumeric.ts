/**
 * Sorts by name in the order that the compatible API documents: by the number at the start of a name, or before its
 * extension, or at its end, so that `page_2` comes before `page_10`.
 *
 * That order compares two names at a time and is not transitive where numbers at the start and at the end are mixed
 * (`1b.pdf` < `3a.pdf` < `a2.pdf` < `1b.pdf`). So names are first brought into an order that is total, then sorted by the
 * documented one: the same wherever that is an order, and never dependent on the order of sending.
 */
export function sortAlphanumerically<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  const keyed = items.map(item => ({ item, key: keyOf(nameOf(item)) }));
  keyed.sort((a, b) => compareTotally(a.key, b.key)).sort((a, b) => compareAsDocumented(a.key, b.key));
  return keyed.map(({ item }) => item);
}

interface Key {
  readonly name: string;
  readonly kind: 'prefix' | 'other' | 'none';
  readonly number: bigint;
  /** The name without its number. */
  readonly rest: string;
}

/** Numbers count only while a signed 64-bit integer holds them. */
const LIMIT = 2n ** 63n;

function keyOf(name: string): Key {
  const prefix = /^(\d+)(.*)$/s.exec(name);
  const suffix = /^(.*?)(\d+)(\.[^.]+)$/s.exec(name);
  const trailing = /^(.*?)(\d+)$/s.exec(name);
  const candidates: Key[] = [];
  if (prefix) candidates.push({ name, kind: 'prefix', number: BigInt(prefix[1] ?? 0), rest: prefix[2] ?? '' });
  if (suffix) {
    candidates.push({ name, kind: 'other', number: BigInt(suffix[2] ?? 0), rest: `${suffix[1]}${suffix[3]}` });
  }
  if (trailing) candidates.push({ name, kind: 'other', number: BigInt(trailing[2] ?? 0), rest: trailing[1] ?? '' });
  return candidates.find(key => key.number < LIMIT) ?? { name, kind: 'none', number: 0n, rest: name };
}

function compareAsDocumented(a: Key, b: Key): number {
  if (a.kind === 'none' || b.kind === 'none') {
    if (a.kind === b.kind) return compareBytes(a.name, b.name);
    return a.kind === 'none' ? 1 : -1;
  }
  if (a.kind === 'prefix' && b.kind === 'prefix') return compareNumbers(a, b) || compareBytes(a.rest, b.rest);
  if (a.kind === b.kind) {
    return compareBytes(a.rest, b.rest) || compareNumbers(a, b) || compareBytes(a.name, b.name);
  }
  return compareBytes(a.rest, b.rest) || (a.kind === 'prefix' ? -1 : 1);
}

const KIND_ORDER = { prefix: 0, other: 1, none: 2 } as const;

function compareTotally(a: Key, b: Key): number {
  return KIND_ORDER[a.kind] - KIND_ORDER[b.kind] || compareAsDocumented(a, b) || compareBytes(a.name, b.name);
}

function compareNumbers(a: Key, b: Key): number {
  return a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
}

/** As bytes of UTF-8, which is how the compatible API compares. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
