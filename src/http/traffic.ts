import { Failure } from '../failure/failure.ts';

/** Who is in, and whether anybody is still let in: what a shutdown waits for. */
export class Traffic {
  #active = 0;
  #stopping = false;
  readonly #patience = new AbortController();
  readonly #waiting = new Set<() => void>();

  /** Aborts when the patience of a shutdown is at its end. */
  get patience(): AbortSignal {
    return this.#patience.signal;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Requests that are not over yet, those included whose folder is still to be removed. */
  get active(): number {
    return this.#active;
  }

  /**
   * Counts a request in. Dispose of what it gives when the request is over and nothing of it is left. One that comes after
   * the stop is not waited for: it is refused anyway.
   */
  enter(): Disposable {
    let left = this.#stopping;
    if (!left) this.#active += 1;
    return {
      [Symbol.dispose]: () => {
        if (left) return;
        left = true;
        this.#active -= 1;
        if (this.#active > 0) return;
        for (const tell of this.#waiting) tell();
        this.#waiting.clear();
      },
    };
  }

  /** From now on new work is refused; what is in may finish. */
  stop(): void {
    this.#stopping = true;
  }

  /** What is still in is told to end now. */
  endPatience(): void {
    this.#patience.abort(new Failure('SHUTTING_DOWN'));
  }

  /** Settles as soon as nobody is in. */
  drained(): Promise<void> {
    return this.#active === 0 ? Promise.resolve() : new Promise(resolve => this.#waiting.add(resolve));
  }
}
