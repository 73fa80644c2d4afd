import type { Logger } from 'pino';
import { Failure } from '../failure/failure.ts';
import { isHopeless, RunTimes } from './admission.ts';
import { carryOut, type Verdict } from './attempt.ts';
import { Fleet } from './fleet.ts';
import type { Instance, InstanceState } from './instance.ts';
import { PoisonMarks } from './poison.ts';
import { type Waiter, WaitingLine } from './queue.ts';
import { Rescue } from './rescue.ts';
import type { Runner } from './runner.ts';
import type { Attempt, Early, Process, RunOptions, SupervisorSettings, Surroundings, Task } from './types.ts';

export interface SupervisorOptions<P extends Process> {
  /** Names the instances: `libreoffice` gives `libreoffice-1.1`. */
  readonly engine: string;
  /** For people: `LibreOffice`. */
  readonly name: string;
  readonly settings: SupervisorSettings;
  readonly runner: Runner;
  readonly surroundings: Surroundings;
  readonly log: Logger;
  /** Makes (doesn't start) an instance of this id. */
  create(id: string): P;
}

export interface InstanceStatus {
  readonly id: string;
  readonly state: InstanceState;
  readonly activeTasks: number;
  readonly servedTasks: number;
  /** How long it has been ready, in ms. */
  readonly ageMs: number;
  readonly residentBytes: number | undefined;
}

export interface EngineStatus {
  readonly healthy: boolean;
  /** False only when the last start failed and no instance is usable. */
  readonly usable: boolean;
  readonly lastError: string | undefined;
  readonly queueSize: number;
  readonly activeTasks: number;
  readonly restarts: number;
  readonly restartsByReason: Readonly<Record<string, number>>;
  readonly killsByReason: Readonly<Record<string, number>>;
  readonly instances: readonly InstanceStatus[];
}

/** Admits work to one engine: a bounded queue, slots in healthy instances, a second chance for victims of a crash. */
export class ProcessSupervisor<P extends Process> {
  readonly #options: SupervisorOptions<P>;
  readonly #line = new WaitingLine<Instance<P>>();
  readonly #fleet: Fleet<P>;
  readonly #rescue: Rescue<P>;
  readonly #marks: PoisonMarks;
  readonly #times = new RunTimes();
  readonly #resting = new Set<() => void>();
  #cancelIdle: (() => void) | undefined;
  #wanted = false;
  #closing = false;
  #attempts = 0;

  constructor(options: SupervisorOptions<P>) {
    this.#options = options;
    this.#marks = new PoisonMarks(options.surroundings.clock, options.settings.poisonTtl);
    this.#fleet = new Fleet({
      ...options,
      onChange: () => this.#dispatch(),
      onStartFailed: (_error, ms) => this.#afterFailedStart(ms),
    });
    this.#rescue = new Rescue({
      open: signal => this.#fleet.extra(signal),
      close: instance => this.#fleet.dropExtra(instance),
      onEmpty: () => this.#dispatch(),
    });
  }

  /** Starts the engine ahead of any work. Settles when the first instance is usable; the others follow by themselves. */
  async launch(): Promise<void> {
    this.#wanted = true;
    this.#fleet.ensure(1);
    while (!this.#fleet.anyUsable && !this.#closing) await this.#nextChange();
    this.#fleet.ensure(this.#fleet.capacity);
  }

  /** Finishes what was accepted until the bound aborts, refuses the rest, then ends the engine. */
  async shutdown(bound: AbortSignal): Promise<void> {
    this.#closing = true;
    this.#cancelIdle?.();
    while (!this.#atRest && !bound.aborted) await Promise.race([this.#nextChange(), aborted(bound)]);
    const refusal = new Failure('SHUTTING_DOWN');
    for (const waiter of this.#line.take(() => true)) waiter.refuse(refusal);
    this.#rescue.refuseAll(refusal);
    await this.#fleet.stopAll();
    while (!this.#atRest) await this.#nextChange();
  }

  /** Not started, or renewed as planned: healthy. Down only when no instance is usable and the last start failed. */
  get healthy(): boolean {
    return this.#fleet.anyUsable || this.#fleet.lastStartError === undefined;
  }

  /** Requests that wait; one for which there is a slot doesn't, also while its instance is still starting. */
  get queueSize(): number {
    return this.#line.requestsBeyond(this.#freeSlots);
  }

  get activeTasks(): number {
    return this.#fleet.active + this.#rescue.size;
  }

  get restarts(): number {
    return Object.values(this.#fleet.restartsByReason).reduce((sum, count) => sum + count, 0);
  }

  status(): EngineStatus {
    const now = this.#options.surroundings.clock.now();
    return {
      healthy: this.healthy,
      usable: this.healthy,
      lastError: this.#fleet.lastStartError?.message,
      queueSize: this.queueSize,
      activeTasks: this.activeTasks,
      restarts: this.restarts,
      restartsByReason: { ...this.#fleet.restartsByReason },
      killsByReason: { ...this.#fleet.killsByReason },
      instances: [...this.#fleet.instances()].map(instance => ({
        id: instance.id,
        state: instance.state,
        activeTasks: instance.active,
        servedTasks: instance.served,
        ageMs: instance.state === 'starting' ? 0 : now - instance.readyAt,
        residentBytes: instance.residentBytes,
      })),
    };
  }

  /**
   * Has one task done. Settles only when its work has truly ended (but for what an early result leaves to clean).
   * @throws Failure `QUEUE_FULL`, `OVERLOADED`, `ENGINE_UNAVAILABLE`, `SHUTTING_DOWN`, `CRASHED_TWICE`
   * @throws the signal's reason when it aborts; what the task throws
   */
  run<T>(task: Task<P, T>, options: RunOptions): Promise<T> {
    return this.#run(task, options, true);
  }

  /**
   * Does a request's many tasks; results come in the order of the items. Only the first can be refused for a full
   * queue. It keeps at most as many in flight as there are instances, and its next goes behind those of others.
   * @throws the first failure by index; what has not begun then is not begun
   */
  async runAll<I, T>(
    items: readonly I[],
    task: (item: I, process: P, attempt: Attempt) => Promise<T | Early<T>>,
    options: RunOptions,
  ): Promise<T[]> {
    const results: T[] = [];
    const failures = new Map<number, unknown>();
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < items.length && failures.size === 0) {
        const index = next++;
        try {
          const item = items[index] as I;
          results[index] = await this.#run((process, attempt) => task(item, process, attempt), options, index === 0);
        } catch (error) {
          failures.set(index, error);
        }
      }
    };
    const lanes = Math.min(items.length, this.#options.settings.instances);
    await Promise.all(Array.from({ length: lanes }, lane));
    if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
    return results;
  }

  async #run<T>(task: Task<P, T>, options: RunOptions, counts: boolean): Promise<T> {
    if (options.signal.aborted) throw options.signal.reason;
    if (this.#closing && counts) throw new Failure('SHUTTING_DOWN');
    const arrived = this.#options.surroundings.clock.now();
    if (this.#marks.any && (await this.#isMarked(options))) return this.#runApart(task, options, arrived, true);
    const instance = await this.#slot(options, counts);
    const { verdict, ms } = await this.#attempt(task, options, instance, 1);
    if (verdict.kind === 'crashed' && !options.signal.aborted) {
      this.#giveBack(instance, undefined);
      if (this.#closing) throw new Failure('SHUTTING_DOWN', {}, { cause: verdict.error });
      this.#log.warn(
        { engine: this.#options.engine, instance: instance.id, err: verdict.error },
        'task lost its engine',
      );
      return this.#runApart(task, options, arrived, false);
    }
    const clean = verdict.kind === 'done' ? verdict.clean : undefined;
    this.#giveBack(instance, clean);
    this.#trace(options, instance, arrived, ms, 1);
    return outcome(verdict, options);
  }

  /** In a throw-away instance: a victim's second attempt, or a marked document's only one. */
  #runApart<T>(task: Task<P, T>, options: RunOptions, arrived: number, marked: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#rescue.admit({
        signal: options.signal,
        giveUp: error => reject(this.#whyNoInstance(error, options)),
        runIn: async instance => {
          instance.active += 1;
          const { verdict, ms } = await this.#attempt(task, options, instance, marked ? 1 : 2);
          if (verdict.kind === 'done') await verdict.clean?.catch(() => {});
          instance.active -= 1;
          this.#trace(options, instance, arrived, ms, marked ? 1 : 2);
          if (verdict.kind === 'crashed' && !options.signal.aborted) {
            reject(await this.#condemn(options, verdict.error));
          } else outcome(verdict, options).then(resolve, reject);
        },
      });
    });
  }

  async #attempt<T>(task: Task<P, T>, options: RunOptions, instance: Instance<P>, number: 1 | 2) {
    const { clock } = this.#options.surroundings;
    const began = clock.now();
    const attempt: Attempt = {
      id: `${instance.id}#${++this.#attempts}`,
      instance: instance.id,
      number,
      signal: options.signal,
      retireInstance: reason => this.#fleet.retire(instance, reason),
    };
    const kill = () => this.#fleet.kill(instance, 'deadline');
    const verdict: Verdict<T> = await carryOut(instance.process, task, attempt, { clock, kill });
    const ms = clock.now() - began;
    if (verdict.kind === 'done') this.#times.add(ms);
    return { verdict, ms };
  }

  /** Waits for a slot, in line. */
  #slot(options: RunOptions, counts: boolean): Promise<Instance<P>> {
    if (counts) this.#refuseIfFull(options);
    return new Promise((resolve, reject) => {
      const waiter: Waiter<Instance<P>> = {
        counts,
        deadline: options.deadline,
        grant: instance => {
          options.signal.removeEventListener('abort', leave);
          resolve(instance);
        },
        refuse: error => {
          options.signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      const leave = () => {
        if (!this.#line.leave(waiter)) return;
        reject(this.#whyNoInstance(options.signal.reason, options));
        this.#changed();
      };
      options.signal.addEventListener('abort', leave, { once: true });
      this.#line.join(waiter);
      this.#cancelIdle?.();
      this.#dispatch();
    });
  }

  #refuseIfFull(options: RunOptions): void {
    const { maxQueueSize } = this.#options.settings;
    const waits = this.#line.length >= this.#freeSlots;
    if (!waits) return;
    if (maxQueueSize > 0 && this.queueSize >= maxQueueSize) throw new Failure('QUEUE_FULL');
    const timeLeftMs = (options.deadline ?? Number.POSITIVE_INFINITY) - this.#options.surroundings.clock.now();
    const waitingAhead = this.#line.length - Math.max(0, this.#freeSlots);
    if (isHopeless({ waitingAhead, slots: this.#fleet.capacity, times: this.#times, timeLeftMs })) {
      throw new Failure('OVERLOADED');
    }
  }

  /** Gives free slots to those who wait, in their order, and sees to it that there are instances for them. */
  #dispatch(): void {
    while (this.#line.length > 0) {
      const instance = this.#fleet.take();
      if (!instance) break;
      this.#line.next()?.grant(instance);
    }
    if (this.#line.length > 0) this.#fleet.ensure(this.#fleet.active + this.#line.length);
    else if (this.#wanted && !this.#closing) this.#fleet.ensure(this.#fleet.anyUsable ? this.#fleet.capacity : 1);
    this.#changed();
  }

  #giveBack(instance: Instance<P>, clean: Promise<void> | undefined): void {
    instance.served += 1;
    const release = () => this.#fleet.release(instance);
    if (!clean) return release();
    clean.catch(() => this.#fleet.retire(instance, 'unclean')).finally(release);
  }

  /** Those whose deadline comes before the next attempt to start are told now. True: nobody is left who needs it. */
  #afterFailedStart(retryInMs: number): boolean {
    const next = this.#options.surroundings.clock.now() + retryInMs;
    if (!this.#fleet.anyUsable) {
      for (const waiter of this.#line.take(({ deadline }) => deadline !== undefined && deadline <= next)) {
        waiter.refuse(this.#unavailable());
      }
    }
    this.#changed();
    return this.#line.length === 0 && (!this.#wanted || this.#closing);
  }

  #whyNoInstance(error: unknown, options: RunOptions): unknown {
    const lacked = this.#fleet.lastStartError !== undefined && !this.#fleet.anyUsable;
    if (Failure.is(error, 'TIME_LIMIT')) return lacked ? this.#unavailable() : error;
    if (Failure.is(error) || options.signal.aborted) return error;
    return this.#unavailable(error);
  }

  #unavailable(cause: unknown = this.#fleet.lastStartError): Failure {
    return new Failure('ENGINE_UNAVAILABLE', { engine: this.#options.name }, { cause });
  }

  async #isMarked(options: RunOptions): Promise<boolean> {
    const fingerprint = await options.fingerprint?.();
    return fingerprint !== undefined && this.#marks.has(fingerprint);
  }

  /** A document that killed its engine even apart from all others: marked, logged, and told so. */
  async #condemn(options: RunOptions, cause: Error): Promise<Failure> {
    const sha256 = await options.fingerprint?.().catch(() => undefined);
    if (sha256 !== undefined) this.#marks.mark(sha256);
    this.#log.error({ engine: this.#options.engine, sha256, err: cause }, 'document crashed its engine twice');
    return new Failure('CRASHED_TWICE', { engine: this.#options.name }, { cause });
  }

  #trace(options: RunOptions, instance: Instance<P>, arrived: number, runMs: number, attempts: number): void {
    const { engine, surroundings } = this.#options;
    const queueMs = Math.max(0, surroundings.clock.now() - arrived - runMs);
    options.trace?.({ engine, instance: instance.id, queueMs, runMs, attempts });
  }

  get #freeSlots(): number {
    return Math.max(0, this.#fleet.capacity - this.#fleet.active);
  }

  get #atRest(): boolean {
    return this.#line.length === 0 && this.#fleet.active === 0 && this.#rescue.size === 0;
  }

  /** Something has changed: whoever waits for rest looks again, and an idle engine's time begins. */
  #changed(): void {
    for (const look of this.#resting) look();
    this.#resting.clear();
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    const { idleShutdownTimeout } = this.#options.settings;
    const idle = idleShutdownTimeout > 0 && this.#atRest && !this.#closing && this.#fleet.anyUsable;
    if (idle) this.#cancelIdle = this.#options.surroundings.clock.after(idleShutdownTimeout, () => this.#stopIdle());
  }

  #stopIdle(): void {
    if (!this.#atRest) return;
    this.#wanted = false;
    this.#log.info({ engine: this.#options.engine }, 'engine is stopped: idle');
    void this.#fleet.stopAll();
  }

  #nextChange(): Promise<void> {
    return new Promise(resolve => this.#resting.add(resolve));
  }

  get #log(): Logger {
    return this.#options.log;
  }
}

async function outcome<T>(verdict: Verdict<T>, options: RunOptions): Promise<T> {
  if (options.signal.aborted && verdict.kind !== 'done') throw options.signal.reason;
  if (verdict.kind === 'done') return verdict.value;
  throw verdict.kind === 'aborted' ? options.signal.reason : verdict.error;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
