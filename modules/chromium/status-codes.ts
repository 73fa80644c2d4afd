/** All statuses that a list of the form stands for: 199, 299, 399, 499 and 599 mean their whole hundred. */
export function expandStatuses(codes: readonly number[]): ReadonlySet<number> {
  return new Set(codes.flatMap(code => (CLASSES.has(code) ? hundred(code - 99) : [code])));
}

const CLASSES = new Set([199, 299, 399, 499, 599]);

function hundred(first: number): number[] {
  return Array.from({ length: 100 }, (_, index) => first + index);
}
