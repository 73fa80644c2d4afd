import type { Instance } from './instance.ts';
import type { Process } from './types.ts';

/** A task whose instance died under it, waiting for its other chance. */
export interface Victim<P extends Process> {
  readonly signal: AbortSignal;
  /** Runs it in this instance; settles when its work has ended. Never rejects. */
  runIn(instance: Instance<P>): Promise<void>;
  /** Told where no instance could be had for it, or its signal has aborted before its turn. */
  giveUp(error: unknown): void;
}

interface Ward<P extends Process> {
  /** @throws where it can't be started */
  open(signal: AbortSignal): Promise<Instance<P>>;
  close(instance: Instance<P>): Promise<void>;
  /** All victims have been seen to. */
  onEmpty(): void;
}

/**
 * Runs victims again, one at a time, in an extra instance of their own: a document that kills engines then kills nobody
 * else's work, and new work doesn't push ahead of those who have waited already.
 */
export class Rescue<P extends Process> {
  readonly #ward: Ward<P>;
  readonly #victims = new Set<Victim<P>>();
  #working = false;

  constructor(ward: Ward<P>) {
    this.#ward = ward;
  }

  /** Victims that wait or are being run. */
  get size(): number {
    return this.#victims.size;
  }

  admit(victim: Victim<P>): void {
    if (victim.signal.aborted) return victim.giveUp(victim.signal.reason);
    this.#victims.add(victim);
    victim.signal.addEventListener('abort', () => this.#leave(victim), { once: true });
    if (!this.#working) void this.#work();
  }

  /** Sends away all that have not begun. */
  refuseAll(error: unknown): void {
    for (const victim of [...this.#victims]) {
      if (victim !== this.#current) this.#leave(victim, error);
    }
  }

  #current: Victim<P> | undefined;

  async #work(): Promise<void> {
    this.#working = true;
    let instance: Instance<P> | undefined;
    for (let victim = this.#first(); victim; victim = this.#first()) {
      this.#current = victim;
      try {
        if (!instance?.usable) {
          if (instance) await this.#ward.close(instance);
          instance = undefined;
          instance = await this.#ward.open(victim.signal);
        }
        await victim.runIn(instance);
      } catch (error) {
        victim.giveUp(error);
      }
      this.#victims.delete(victim);
      this.#current = undefined;
    }
    if (instance) await this.#ward.close(instance);
    this.#working = false;
    // Somebody may have come while the instance was being closed.
    if (this.#victims.size > 0) return this.#work();
    this.#ward.onEmpty();
  }

  #first(): Victim<P> | undefined {
    return this.#victims.values().next().value;
  }

  #leave(victim: Victim<P>, error: unknown = victim.signal.reason): void {
    if (victim === this.#current || !this.#victims.delete(victim)) return;
    victim.giveUp(error);
  }
}
