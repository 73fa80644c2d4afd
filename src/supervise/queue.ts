/** One task that waits for a slot. */
export interface Waiter<S> {
  /** Whether it stands for a request: the first file of each does, later files of the same request don't. */
  readonly counts: boolean;
  /** When its signal will abort for lack of time, on the clock, in ms. */
  readonly deadline: number | undefined;
  grant(slot: S): void;
  /** Sends it away. */
  refuse(error: unknown): void;
}

/** First come, first served. Whoever leaves is gone at once and never counted again. */
export class WaitingLine<S> {
  readonly #waiters = new Set<Waiter<S>>();

  join(waiter: Waiter<S>): void {
    this.#waiters.add(waiter);
  }

  leave(waiter: Waiter<S>): boolean {
    return this.#waiters.delete(waiter);
  }

  /** The first in line, taken out of it. */
  next(): Waiter<S> | undefined {
    const [first] = this.#waiters;
    if (first) this.#waiters.delete(first);
    return first;
  }

  get length(): number {
    return this.#waiters.size;
  }

  /** Requests that really wait: those ahead, for which `slots` are free or on their way, don't. */
  requestsBeyond(slots: number): number {
    let place = 0;
    let waiting = 0;
    for (const waiter of this.#waiters) {
      place += 1;
      if (place > slots && waiter.counts) waiting += 1;
    }
    return waiting;
  }

  /** Takes out and gives all that the question is answered with yes for. */
  take(matches: (waiter: Waiter<S>) => boolean): Waiter<S>[] {
    const taken = [...this.#waiters].filter(matches);
    for (const waiter of taken) this.#waiters.delete(waiter);
    return taken;
  }
}
