/** Why a task that had not begun was not done: another of its request had failed. */
const CALLED_OFF = Symbol('called off');

/**
 * Does a request's many tasks, so many at once; results come in the order of the items.
 * @param one does one; its signal aborts when it need not begin any more
 * @throws the first failure by index; what has not begun then isn't begun
 */
export async function eachInOrder<I, T>(
  items: readonly I[],
  atOnce: number,
  one: (item: I, index: number, calledOff: AbortSignal) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  const failures = new Map<number, unknown>();
  const callOff = new AbortController();
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of rest) {
      try {
        results[index] = await one(item, index, callOff.signal);
      } catch (error) {
        if (error !== CALLED_OFF) failures.set(index, error);
        callOff.abort(CALLED_OFF);
      }
      if (callOff.signal.aborted) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(items.length, atOnce) }, lane));
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
  return results;
}
