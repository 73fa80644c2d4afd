/** How many run times are remembered, and how many must be known before anything is predicted from them. */
const REMEMBERED = 100;
const ENOUGH = 20;

/** How far past its time left a request's expected wait must be before it is refused: estimates are rough. */
const MARGIN = 2;

/** What recent tasks took, for a cautious guess of how long a new one would wait. */
export class RunTimes {
  readonly #recent: number[] = [];

  add(ms: number): void {
    this.#recent.push(ms);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
  }

  get known(): number {
    return this.#recent.length;
  }

  /** In ms; 0 where nothing is known. */
  get median(): number {
    const sorted = this.#recent.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  }
}

/**
 * Whether a new task is so hopeless that it is kinder to refuse it now: only if others wait, enough run times are known, and
 * the expected wait is more than twice the time it has left.
 */
export function isHopeless(load: {
  readonly waitingAhead: number;
  readonly slots: number;
  readonly times: RunTimes;
  readonly timeLeftMs: number;
}): boolean {
  if (load.waitingAhead === 0 || load.times.known < ENOUGH) return false;
  return (load.waitingAhead * load.times.median) / load.slots > MARGIN * load.timeLeftMs;
}
