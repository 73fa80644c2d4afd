import type { Clock } from '../time/clock.ts';
import type { Instance } from './instance.ts';
import type { Process } from './types.ts';

const CHECK_MS = 1000;
/** Without an answer and without CPU time gained for so long, an instance is frozen, in ms. */
const SILENCE_MS = 3000;

interface Question {
  /** When it was asked, or CPU time was last seen to grow since. */
  since: number;
  cpuMs: number;
}

/**
 * Looks at all instances every second while there are any: what memory they hold, and whether they are frozen. A busy
 * instance gains CPU time, so it is never taken for a frozen one.
 */
export class Watchdog<P extends Process> {
  readonly #clock: Clock;
  readonly #instances: () => Iterable<Instance<P>>;
  readonly #onFrozen: (instance: Instance<P>, how: string) => void;
  readonly #onLook: () => void;
  readonly #questions = new WeakMap<Instance<P>, Question>();
  #cancel: (() => void) | undefined;

  constructor(options: {
    clock: Clock;
    instances: () => Iterable<Instance<P>>;
    onFrozen: (instance: Instance<P>, how: string) => void;
    /** Told after each round, when memory is known anew. */
    onLook: () => void;
  }) {
    this.#clock = options.clock;
    this.#instances = options.instances;
    this.#onFrozen = options.onFrozen;
    this.#onLook = options.onLook;
  }

  /** Starts looking, if it doesn't yet; it stops by itself when no instance is left. */
  wake(): void {
    this.#cancel ??= this.#clock.after(CHECK_MS, () => void this.#look());
  }

  rest(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #look(): Promise<void> {
    const watched = [...this.#instances()].filter(({ state }) => state === 'ready' || state === 'draining');
    await Promise.all(watched.map(instance => this.#lookAt(instance).catch(() => {})));
    if (this.#cancel === undefined) return;
    this.#cancel = undefined;
    this.#onLook();
    if ([...this.#instances()].length > 0) this.wake();
  }

  async #lookAt(instance: Instance<P>): Promise<void> {
    const usage = await instance.process.usage();
    if (!usage || instance.state === 'dead' || instance.state === 'stopping') return;
    instance.residentBytes = usage.residentBytes;
    if (usage.stopped) return this.#onFrozen(instance, 'stopped');
    const question = this.#questions.get(instance);
    if (!question) return this.#ask(instance, usage.cpuMs);
    const now = this.#clock.now();
    if (usage.cpuMs > question.cpuMs) Object.assign(question, { since: now, cpuMs: usage.cpuMs });
    else if (now - question.since >= SILENCE_MS) this.#onFrozen(instance, 'silent');
  }

  #ask(instance: Instance<P>, cpuMs: number): void {
    if (!instance.process.ping) return;
    this.#questions.set(instance, { since: this.#clock.now(), cpuMs });
    const answered = () => this.#questions.delete(instance);
    instance.process.ping().then(answered, answered);
  }
}
