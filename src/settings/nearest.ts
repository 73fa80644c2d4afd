/** The candidate that was most likely meant: at most a few letters away; undefined where none is near. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map(candidate => ({ candidate, distance: distanceBetween(name, candidate) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.min(3, Math.floor(name.length / 4))));
  return near.sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Letters to insert, to leave out or to replace: Levenshtein's distance. */
function distanceBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
