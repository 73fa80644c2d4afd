import type { Logger } from 'pino';
import { Failure } from '../failure/failure.ts';
import type { Clock } from '../time/clock.ts';
import { isHopeless, RunTimes } from './admission.ts';
import { Dispatcher } from './dispatcher.ts';
import { Fleet } from './fleet.ts';
import { IdleTimer } from './idle.ts';
import type { Instance } from './instance.ts';
import { Journal } from './journal.ts';
import { aborted } from './linked-signal.ts';
import { eachInOrder } from './many-files.ts';
import { PoisonMarks } from './poison.ts';
import type { Runner } from './runner.ts';
import type { EngineStatus, InstanceStatus } from './status.ts';
import { TaskDesk } from './task-desk.ts';
import type { Attempt, Early, Process, RunOptions, SupervisorSettings, Surroundings, Task } from './types.ts';

export type { EngineStatus, InstanceStatus } from './status.ts';

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

/** Admits work to one engine: a bounded queue, slots in healthy instances, a second chance for victims of a crash. */
export class ProcessSupervisor<P extends Process> {
  readonly #options: SupervisorOptions<P>;
  readonly #journal = new Journal();
  readonly #fleet: Fleet<P>;
  readonly #dispatcher: Dispatcher<P>;
  readonly #desk: TaskDesk<P>;
  readonly #marks: PoisonMarks;
  readonly #times = new RunTimes();
  readonly #idle: IdleTimer;
  /** Aborts when shutdown's bound is reached. */
  readonly #end = new AbortController();
  readonly #watchers = new Set<() => void>();
  /** Requests that were accepted and are not through. */
  #accepted = 0;
  #always = false;
  /** Launches that are not through. */
  #launches = 0;
  #closing = false;

  constructor(options: SupervisorOptions<P>) {
    const { surroundings, settings, runner, engine, name, log } = options;
    this.#options = options;
    this.#marks = new PoisonMarks(surroundings.clock, settings.poisonTtl);
    this.#idle = new IdleTimer(surroundings.clock, settings.idleShutdownTimeout, () => this.#stopIdle());
    this.#fleet = new Fleet({
      ...options,
      create: id => options.create(id),
      journal: this.#journal,
      onChange: () => this.#dispatcher.dispatch(),
    });
    this.#dispatcher = new Dispatcher({
      name,
      fleet: this.#fleet,
      always: () => this.#always,
      onChange: () => this.#changed(),
    });
    this.#desk = new TaskDesk({
      engine,
      name,
      fleet: this.#fleet,
      dispatcher: this.#dispatcher,
      marks: this.#marks,
      journal: this.#journal,
      times: this.#times,
      clock: surroundings.clock,
      log,
      end: this.#end.signal,
    });
    runner.ending.addEventListener('abort', () => this.#endAll(), { once: true });
  }

  /**
   * Starts the engine ahead of any work, and keeps trying. Settles when the first instance is usable (the others follow
   * by themselves), or when the engine is shut down.
   */
  async launch(): Promise<void> {
    if (this.#closing) return;
    this.#always = true;
    this.#launches += 1;
    this.#dispatcher.dispatch();
    await this.#until(() => this.#fleet.anyUsable || this.#closing);
    this.#launches -= 1;
    this.#changed();
  }

  /** Finishes what was accepted until the bound aborts, refuses the rest, then ends the engine. */
  async shutdown(bound: AbortSignal): Promise<void> {
    this.#closing = true;
    this.#always = false;
    this.#dispatcher.dispatch();
    await Promise.race([this.#until(() => this.#atRest), aborted(bound, this.#end.signal)]);
    this.#endAll();
    await this.#fleet.stopAll();
    await this.#until(() => this.#atRest && !this.#fleet.exists);
  }

  /** Not started, or renewed as planned: healthy. Down only when no instance is usable and the last start failed. */
  get healthy(): boolean {
    return this.#fleet.down === undefined;
  }

  /** Requests that wait; one for which there is a slot doesn't, also while its instance is still starting. */
  get queueSize(): number {
    return this.#dispatcher.queueSize;
  }

  /** Slots in use. */
  get activeTasks(): number {
    return this.#fleet.active;
  }

  get restarts(): number {
    return this.#journal.restarts.total;
  }

  status(): EngineStatus {
    const { starts, restarts, kills, startTimes, queueTimes, runTimes } = this.#journal;
    return {
      healthy: this.healthy,
      usable: this.healthy,
      lastError: this.#fleet.lastFailure?.message,
      queueSize: this.queueSize,
      activeTasks: this.activeTasks,
      waitingVictims: this.#dispatcher.waitingVictims,
      markedDocuments: this.#marks.size,
      starts: starts.total,
      startsByReason: starts.byReason,
      restarts: restarts.total,
      restartsByReason: restarts.byReason,
      killsByReason: kills.byReason,
      startTimes: startTimes.times,
      queueTimes: queueTimes.times,
      runTimes: runTimes.times,
      instances: [...this.#fleet.instances()].map(statusOf),
    };
  }

  /**
   * Has one task done. Settles only when its work has truly ended (but for what an early result leaves to clean).
   * @throws Failure `QUEUE_FULL`, `OVERLOADED`, `ENGINE_UNAVAILABLE`, `SHUTTING_DOWN`, `CRASHED_TWICE`
   * @throws the signal's reason when it aborts; what the task throws
   */
  async run<T>(task: Task<P, T>, options: RunOptions): Promise<T> {
    this.#admit(options);
    return this.#accept(() => this.#desk.serve(task, { ...options, counts: true }));
  }

  /**
   * Does a request's many tasks; results come in the order of the items. Only the whole can be refused for a full
   * queue. It keeps at most as many in flight as there are instances, and its next goes behind those of others.
   * @throws the first failure by index, as {@link run} does; what has not begun then is not begun
   */
  async runAll<I, T>(
    items: readonly I[],
    task: (item: I, process: P, attempt: Attempt) => Promise<T | Early<T>>,
    options: RunOptions,
  ): Promise<T[]> {
    if (items.length === 0) return [];
    this.#admit(options);
    return this.#accept(() =>
      eachInOrder(items, this.#options.settings.instances, (item, index, calledOff) =>
        this.#desk.serve((process, attempt) => task(item, process, attempt), {
          ...options,
          counts: index === 0,
          calledOff,
        }),
      ),
    );
  }

  /** Refuses a request that can't be served, before it has cost anything. */
  #admit({ signal, deadline = Number.POSITIVE_INFINITY }: RunOptions): void {
    const { maxQueueSize, refuseHopeless = true } = this.#options.settings;
    if (signal.aborted) throw signal.reason;
    if (this.#closing || this.#end.signal.aborted) throw new Failure('SHUTTING_DOWN');
    const waitingAhead = this.#dispatcher.backlog;
    if (waitingAhead < 0) return;
    if (maxQueueSize > 0 && this.queueSize >= maxQueueSize) throw new Failure('QUEUE_FULL');
    const timeLeftMs = deadline - this.#clock.now();
    const hopeless = isHopeless({ waitingAhead, slots: this.#fleet.capacity, times: this.#times, timeLeftMs });
    if (refuseHopeless && hopeless) throw new Failure('OVERLOADED');
  }

  async #accept<T>(request: () => Promise<T>): Promise<T> {
    this.#accepted += 1;
    try {
      return await request();
    } finally {
      this.#accepted -= 1;
      this.#changed();
    }
  }

  get #atRest(): boolean {
    return this.#accepted === 0 && this.#fleet.active === 0;
  }

  /** Something has changed: whoever waits for a state of things looks again, and an idle engine's time begins. */
  #changed(): void {
    this.#idle.update(this.#atRest && this.#fleet.exists && this.#launches === 0 && !this.#closing);
    for (const look of [...this.#watchers]) look();
  }

  #until(isSo: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const look = () => {
        if (!isSo()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  #endAll(): void {
    this.#dispatcher.close();
    this.#end.abort(new Failure('SHUTTING_DOWN'));
  }

  #stopIdle(): void {
    this.#always = false;
    this.#log.info({ engine: this.#options.engine }, 'engine is stopped: idle');
    void this.#fleet.stopAll();
  }

  get #clock(): Clock {
    return this.#options.surroundings.clock;
  }

  get #log(): Logger {
    return this.#options.log;
  }
}

function statusOf<P extends Process>(instance: Instance<P>): InstanceStatus {
  return {
    id: instance.id,
    state: instance.state === 'gone' ? 'stopping' : instance.state,
    activeTasks: instance.leases.size,
    servedTasks: instance.served,
    sinceMs: instance.sinceMs,
    residentBytes: instance.residentBytes,
  };
}
