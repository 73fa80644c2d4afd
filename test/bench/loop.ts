/** What a closed loop of clients saw: each sends its next piece of work when the last one is done. */
export interface Seen {
  /** ms each took. */
  readonly times: number[];
  readonly seconds: number;
  /** What went wrong, one text a failure. */
  readonly faults: string[];
}

/**
 * Has some clients work in a loop for a time. What is under way at its end is finished and counts.
 * @param once does one piece of work; throws where the result is wrong
 */
export async function closedLoop(clients: number, ms: number, once: (client: number) => Promise<void>): Promise<Seen> {
  const times: number[] = [];
  const faults: string[] = [];
  const start = performance.now();
  const client = async (index: number) => {
    for (let at = performance.now(); at - start < ms; at = performance.now()) {
      try {
        await once(index);
        times.push(performance.now() - at);
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error));
        if (faults.length > 20) return;
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return { times, seconds: (performance.now() - start) / 1000, faults };
}
