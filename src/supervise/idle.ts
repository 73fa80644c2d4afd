import type { Clock } from '../time/clock.ts';

/** Tells once when there has been nothing to do for a while. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #onIdle: () => void;
  #cancel: (() => void) | undefined;

  /** @param ms 0: never */
  constructor(clock: Clock, ms: number, onIdle: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#onIdle = onIdle;
  }

  /** Said as often as one likes; the time runs from the first of the calls in a row that say that it rests. */
  update(atRest: boolean): void {
    if (!atRest || this.#ms <= 0) {
      this.#cancel?.();
      this.#cancel = undefined;
      return;
    }
    this.#cancel ??= this.#clock.after(this.#ms, () => {
      this.#cancel = undefined;
      this.#onIdle();
    });
  }
}
