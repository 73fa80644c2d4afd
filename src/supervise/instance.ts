import type { Logger } from 'pino';
import { type Clock, sleep } from '../time/clock.ts';
import { aborted } from './linked-signal.ts';
import { EngineCrash, type Process } from './types.ts';

export type InstanceState = 'starting' | 'ready' | 'draining' | 'stopping';

/** The right to run one task in an instance. Whoever has it gives it back. */
export interface Lease<P extends Process> {
  readonly instance: Instance<P>;
  readonly deadline: number | undefined;
  /** On the clock, in ms. */
  readonly since: number;
  /** What it holds will not end by itself: the instance need not wait for it before it goes. */
  hung: boolean;
}

/** How long a start that was called off may take to clean up by itself, in ms. */
const START_GRACE_MS = 1000;
/** How long an end may take before it's given up on, in ms: nothing may wait for ever, not even for a dead disk. */
const STOP_LIMIT_MS = 15_000;

/** One incarnation of an engine's process, and what its supervisor knows of it. */
export class Instance<P extends Process> {
  readonly id: string;
  readonly process: P;
  /** Aborts when it has ended or has been given up on; the reason is an Error that says how. */
  readonly death: AbortSignal;
  /** Slots in use. */
  readonly leases = new Set<Lease<P>>();
  /** Tasks that have come to an end in it, well or not. */
  served = 0;
  /** As of the watchdog's last look. */
  residentBytes: number | undefined;
  /** Why it was ended; undefined: nobody asked. The first reason counts. */
  endedFor: string | undefined;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #death = new AbortController();
  #state: InstanceState | 'gone' = 'starting';
  #since: number;
  #ending: Promise<void> | undefined;

  constructor(id: string, process: P, { clock, log }: { clock: Clock; log: Logger }) {
    this.id = id;
    this.process = process;
    this.#clock = clock;
    this.#log = log;
    this.#since = clock.now();
    this.death = this.#death.signal;
    void process.ended.then(error => this.#die(error));
  }

  get state(): InstanceState | 'gone' {
    return this.#state;
  }

  /** ms for which it has been in its state. */
  get sinceMs(): number {
    return this.#clock.now() - this.#since;
  }

  /** Whether it takes new tasks. */
  get usable(): boolean {
    return this.#state === 'ready' && this.process.healthy;
  }

  /**
   * Starts it; settles when it has proved itself. Whatever fails, nothing of it is left when this rejects.
   * @throws the start's error, or the signal's reason
   */
  async start(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const starting = (async () => this.process.start(signal))();
    const calledOff = aborted(signal, over.signal)
      .then(() => sleep(this.#clock, START_GRACE_MS, over.signal))
      .then(() => Promise.reject(signal.reason));
    try {
      await Promise.race([starting, calledOff]);
      signal.throwIfAborted();
      this.#enter('ready');
    } catch (error) {
      // One that becomes ready after all, later, must not live on either.
      starting.then(() => this.process.stop()).catch(() => {});
      await this.end('start failed');
      throw error;
    } finally {
      over.abort();
    }
  }

  /** It takes no new tasks any more. */
  drain(): void {
    if (this.#state === 'ready') this.#enter('draining');
  }

  /** Ends it at once. Settles when nothing of it is left, or when that has been given up on. */
  end(reason: string): Promise<void> {
    this.endedFor ??= reason;
    if (this.#state !== 'gone') this.#enter('stopping');
    this.#ending ??= this.#stop();
    return this.#ending;
  }

  async #stop(): Promise<void> {
    const over = new AbortController();
    const late = sleep(this.#clock, STOP_LIMIT_MS, over.signal).then(() => {
      throw new Error(`it was not gone after ${STOP_LIMIT_MS} ms`);
    });
    try {
      await Promise.race([this.process.stop(), late]);
    } catch (error) {
      this.#log.error({ instance: this.id, err: error }, 'instance could not be ended cleanly');
    } finally {
      over.abort();
      this.#die(undefined);
    }
  }

  #die(error: Error | undefined): void {
    if (this.#state === 'gone') return;
    this.#enter('gone');
    this.#death.abort(error ?? new EngineCrash(`${this.id} has ended (${this.endedFor ?? 'by itself'})`));
  }

  #enter(state: InstanceState | 'gone'): void {
    this.#state = state;
    this.#since = this.#clock.now();
  }
}
