import type { Clock } from '../time/clock.ts';
import type { Instance } from './instance.ts';
import type { Process } from './types.ts';

const LOOK_MS = 1000;
/** Without a reply and without CPU time gained for so long, an instance is frozen, in ms … */
const SILENCE_MS = 3000;
/** … and on so many looks in a row: when this service itself was held up, time alone proves nothing. */
const SILENT_LOOKS = 3;
/** Looks in a row after which an instance that lives but calls itself broken is one. */
const BROKEN_LOOKS = 2;

export type Ailment = 'stopped' | 'silent' | 'broken';

interface Chart {
  /** When the open question was asked, or CPU time was last seen to change since; undefined: none is open. */
  asked: number | undefined;
  silentLooks: number;
  cpuMs: number;
  brokenLooks: number;
}

export interface WatchdogOptions<P extends Process> {
  readonly clock: Clock;
  instances(): Iterable<Instance<P>>;
  onAiling(instance: Instance<P>, how: Ailment): void;
  /** Told after each look, when memory is known anew. */
  onLook(): void;
}

/**
 * Looks at all instances every second while there are any: what memory they hold, and whether they are frozen. A busy
 * instance gains CPU time, so it is never taken for a frozen one.
 */
export class Watchdog<P extends Process> {
  readonly #options: WatchdogOptions<P>;
  readonly #charts = new WeakMap<Instance<P>, Chart>();
  #awake = false;
  #looking = false;
  #cancel: (() => void) | undefined;

  constructor(options: WatchdogOptions<P>) {
    this.#options = options;
  }

  /** Looks from now on. */
  wake(): void {
    this.#awake = true;
    if (this.#cancel || this.#looking) return;
    this.#cancel = this.#options.clock.after(LOOK_MS, () => {
      this.#cancel = undefined;
      void this.#look();
    });
  }

  /** Looks no more. */
  rest(): void {
    this.#awake = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const watched = [...this.#options.instances()].filter(({ state }) => state === 'ready' || state === 'draining');
    await Promise.all(watched.map(instance => this.#lookAt(instance).catch(() => {})));
    this.#looking = false;
    if (!this.#awake) return;
    this.wake();
    this.#options.onLook();
  }

  async #lookAt(instance: Instance<P>): Promise<void> {
    const usage = await instance.process.usage();
    if (!usage || (instance.state !== 'ready' && instance.state !== 'draining')) return;
    instance.residentBytes = usage.residentBytes;
    const ailment = usage.stopped ? 'stopped' : this.#examine(instance, usage.cpuMs);
    if (ailment) this.#options.onAiling(instance, ailment);
  }

  #examine(instance: Instance<P>, cpuMs: number): Ailment | undefined {
    const now = this.#options.clock.now();
    const chart = this.#charts.get(instance) ?? { asked: undefined, silentLooks: 0, cpuMs, brokenLooks: 0 };
    this.#charts.set(instance, chart);
    chart.brokenLooks = instance.process.healthy ? 0 : chart.brokenLooks + 1;
    if (chart.brokenLooks >= BROKEN_LOOKS) return 'broken';
    if (chart.asked === undefined) this.#ask(instance, chart, now);
    // Less than before is a sign of life too: a process of the tree has ended and took its time along.
    else if (cpuMs !== chart.cpuMs) Object.assign(chart, { asked: now, silentLooks: 0 });
    else if (++chart.silentLooks >= SILENT_LOOKS && now - chart.asked >= SILENCE_MS) return 'silent';
    chart.cpuMs = cpuMs;
    return undefined;
  }

  #ask(instance: Instance<P>, chart: Chart, now: number): void {
    if (!instance.process.ping) return;
    Object.assign(chart, { asked: now, silentLooks: 0 });
    const answered = () => {
      chart.asked = undefined;
    };
    instance.process.ping().then(answered, answered);
  }
}
