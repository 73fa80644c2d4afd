/** What somebody who waits brings along. */
export interface Wish {
  /** Whether it stands for a request: the first file of each does, later files of the same request don't. */
  readonly counts: boolean;
  /** When its signal will abort for lack of time, on the clock, in ms. */
  readonly deadline: number | undefined;
  /** Leaves the line when it aborts. */
  readonly signal: AbortSignal;
}

interface Waiter<S> {
  readonly wish: Wish;
  grant(slot: S): void;
  refuse(error: unknown): void;
}

/** First come, first served. Whoever leaves is gone at once and never counted again. */
export class WaitingLine<S> {
  readonly #waiters = new Set<Waiter<S>>();
  readonly #onLeave: () => void;
  #requests = 0;

  /** @param onLeave told after somebody has given up */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  /**
   * Waits at the end of the line.
   * @throws the reason of the wish's signal, or what {@link refuse} says
   */
  join(wish: Wish): Promise<S> {
    if (wish.signal.aborted) return Promise.reject(wish.signal.reason);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#remove(waiter);
        reject(wish.signal.reason);
        this.#onLeave();
      };
      const done = () => wish.signal.removeEventListener('abort', leave);
      const waiter: Waiter<S> = {
        wish,
        grant: slot => {
          done();
          resolve(slot);
        },
        refuse: error => {
          done();
          reject(error);
        },
      };
      wish.signal.addEventListener('abort', leave, { once: true });
      this.#waiters.add(waiter);
      if (wish.counts) this.#requests += 1;
    });
  }

  get length(): number {
    return this.#waiters.size;
  }

  /** Requests that really wait: those ahead, for which `slots` are free or on their way, don't. */
  requestsBeyond(slots: number): number {
    let waiting = this.#requests;
    let place = 0;
    for (const { wish } of this.#waiters) {
      if (++place > slots) break;
      if (wish.counts) waiting -= 1;
    }
    return waiting;
  }

  /** Lets the first go, with what `take` finds for it. False: nobody waits, or nothing was found. */
  serveFirst(take: (wish: Wish) => S | undefined): boolean {
    const [first] = this.#waiters;
    const slot = first && take(first.wish);
    if (!first || slot === undefined) return false;
    this.#remove(first);
    first.grant(slot);
    return true;
  }

  /** Sends away all whom the question is answered with yes for. */
  refuse(error: () => unknown, which: (wish: Wish) => boolean = () => true): void {
    for (const waiter of [...this.#waiters].filter(({ wish }) => which(wish))) {
      this.#remove(waiter);
      waiter.refuse(error());
    }
  }

  #remove(waiter: Waiter<S>): void {
    if (this.#waiters.delete(waiter) && waiter.wish.counts) this.#requests -= 1;
  }
}
