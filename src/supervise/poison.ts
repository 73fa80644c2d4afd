import type { Clock } from '../time/clock.ts';

/** More marks than this are never needed at once; the one not met with for longest goes first. */
const MOST = 1000;

/** Fingerprints of documents that crashed the engine twice. In memory only, each for a while. */
export class PoisonMarks {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  /** Fingerprint to the time at which its mark ends; the least recently met first. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  /** Without a fingerprint, or a time to hold, nothing is marked. */
  mark(fingerprint: string | undefined): void {
    if (fingerprint === undefined || this.#ttlMs <= 0) return;
    this.#put(fingerprint, this.#clock.now() + this.#ttlMs);
    const [oldest] = this.#until.keys();
    if (this.#until.size > MOST && oldest !== undefined) this.#until.delete(oldest);
  }

  has(fingerprint: string | undefined): boolean {
    if (fingerprint === undefined) return false;
    this.#sweep();
    const until = this.#until.get(fingerprint);
    if (until !== undefined) this.#put(fingerprint, until);
    return until !== undefined;
  }

  /** Marks that hold. While there is none, no document needs a fingerprint. */
  get size(): number {
    this.#sweep();
    return this.#until.size;
  }

  #put(fingerprint: string, until: number): void {
    this.#until.delete(fingerprint);
    this.#until.set(fingerprint, until);
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [fingerprint, until] of this.#until) if (until <= now) this.#until.delete(fingerprint);
  }
}
