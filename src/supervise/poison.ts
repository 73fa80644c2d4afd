import type { Clock } from '../time/clock.ts';

/** More marks than this are never needed at once; the oldest go first. */
const MOST = 1000;

/** Fingerprints of documents that crashed the engine twice. In memory only, each for a while. */
export class PoisonMarks {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  /** Fingerprint to the time at which its mark ends; the least recently marked first. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  mark(fingerprint: string): void {
    this.#until.delete(fingerprint);
    if (this.#ttlMs <= 0) return;
    this.#until.set(fingerprint, this.#clock.now() + this.#ttlMs);
    const [oldest] = this.#until.keys();
    if (this.#until.size > MOST && oldest !== undefined) this.#until.delete(oldest);
  }

  has(fingerprint: string): boolean {
    this.#sweep();
    return this.#until.has(fingerprint);
  }

  /** Whether there is any mark at all: without one, no document needs a fingerprint. */
  get any(): boolean {
    this.#sweep();
    return this.#until.size > 0;
  }

  #sweep(): void {
    for (const [fingerprint, until] of this.#until) {
      if (until <= this.#clock.now()) this.#until.delete(fingerprint);
    }
  }
}
