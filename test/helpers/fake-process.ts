import { type Attempt, EngineCrash, type Process, type Usage } from '../../src/supervise/types.ts';
import { type Clock, sleep } from '../../src/time/clock.ts';

/** How a fake instance behaves from its start on; a test may change it later. */
export interface Behaviour {
  /** ms until it is ready; `never` waits for its signal. */
  start: number | 'never';
  /** The start fails at the end of its time. */
  startFails: boolean;
  /** What it answers when it is to end one task: it can, it can't, or it doesn't answer. */
  abandon: 'ends it' | 'cannot' | 'silent';
  /** ms that a stop takes. */
  stop: number;
  /** Whether it answers pings. */
  answers: boolean;
  /** CPU time that it gains per ms. */
  load: number;
}

export const GOOD: Behaviour = {
  start: 0,
  startFails: false,
  abandon: 'cannot',
  stop: 0,
  answers: true,
  load: 0,
};

/** An instance that lives on a test's clock and dies when the test wants. */
export class FakeProcess implements Process {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly ended: Promise<Error | undefined>;
  /** Attempts that it was told to end. */
  readonly abandoned: Attempt[] = [];
  broken = false;
  stoppedByKernel = false;
  residentBytes = 1_000_000;
  stops = 0;
  readonly #clock: Clock;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #born: number;
  readonly #asked: (() => void)[] = [];
  #state: 'new' | 'starting' | 'ready' | 'dead' = 'new';

  constructor(id: string, clock: Clock, behaviour: Partial<Behaviour> = {}) {
    this.id = id;
    this.behaviour = { ...GOOD, ...behaviour };
    this.ended = this.#ended.promise;
    this.#clock = clock;
    this.#born = clock.now();
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#state = 'starting';
    const { start, startFails } = this.behaviour;
    try {
      if (start !== 0) await sleep(this.#clock, start === 'never' ? 1e9 : start, signal);
      signal.throwIfAborted();
      if (startFails) throw new Error(`${this.id} can't start`);
      if (this.#isDead()) throw new EngineCrash(`${this.id} died while it started`);
    } catch (error) {
      this.crash();
      throw error;
    }
    this.#state = 'ready';
  }

  async stop(): Promise<void> {
    this.stops += 1;
    if (this.#state !== 'dead' && this.behaviour.stop > 0) await sleep(this.#clock, this.behaviour.stop);
    this.#state = 'dead';
    this.#ended.resolve(undefined);
  }

  get healthy(): boolean {
    return this.#state === 'ready' && !this.broken;
  }

  /** Whether an operating-system process of it would exist. */
  get alive(): boolean {
    return this.#state === 'starting' || this.#state === 'ready';
  }

  async abandon(attempt: Attempt): Promise<boolean> {
    this.abandoned.push(attempt);
    if (this.behaviour.abandon === 'silent') await new Promise(() => {});
    return this.behaviour.abandon === 'ends it';
  }

  async usage(): Promise<Usage | undefined> {
    if (!this.alive) return undefined;
    const cpuMs = (this.#clock.now() - this.#born) * this.behaviour.load;
    return { residentBytes: this.residentBytes, cpuMs, stopped: this.stoppedByKernel };
  }

  ping(): Promise<void> {
    if (this.behaviour.answers) return Promise.resolve();
    return new Promise(resolve => this.#asked.push(resolve));
  }

  /** Answers what it has been asked so far. */
  answer(): void {
    for (const answer of this.#asked.splice(0)) answer();
  }

  /** Dies, as by SIGKILL. */
  crash(error: Error = new EngineCrash(`${this.id} was killed`)): void {
    this.#state = 'dead';
    this.#ended.resolve(error);
  }

  #isDead(): boolean {
    return this.#state === 'dead';
  }
}
