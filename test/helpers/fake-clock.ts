import type { Clock } from '../../src/time/clock.ts';

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, fire: () => void): () => void {
    const timer = { due: this.#now + Math.max(0, ms), order: this.#order++, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that are still waiting: none at rest. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Time goes on while nothing can run: as when the whole process was held up. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Moves time on, firing what becomes due in its order, and lets every promise that follows settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#now = Math.max(this.#now, next.due);
      this.#timers.delete(next);
      next.fire();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  #next(end: number): Timer | undefined {
    return [...this.#timers].filter(t => t.due <= end).sort((a, b) => a.due - b.due || a.order - b.order)[0];
  }
}

/** Lets all promise callbacks that are due run, and those that they cause. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(resolve => setImmediate(resolve));
}
