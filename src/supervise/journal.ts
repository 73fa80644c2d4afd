/** How often something has happened, by reason. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(reason: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  get byReason(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}

export interface Times {
  readonly count: number;
  readonly totalMs: number;
  readonly longestMs: number;
}

/** How long something took, summed up. */
export class Stopwatch {
  #count = 0;
  #totalMs = 0;
  #longestMs = 0;

  add(ms: number): void {
    this.#count += 1;
    this.#totalMs += ms;
    this.#longestMs = Math.max(this.#longestMs, ms);
  }

  get times(): Times {
    return { count: this.#count, totalMs: this.#totalMs, longestMs: this.#longestMs };
  }
}

/** The numbers of one engine since the service began. */
export class Journal {
  /** Instances that became ready. */
  readonly starts = new Tally();
  /** Instances that were replaced, or started again. */
  readonly restarts = new Tally();
  /** Instances that were ended by force. */
  readonly kills = new Tally();
  readonly startTimes = new Stopwatch();
  readonly queueTimes = new Stopwatch();
  readonly runTimes = new Stopwatch();
}
