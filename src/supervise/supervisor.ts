import type { Logger } from 'pino';
import { Failure } from '../failure/failure.ts';
import type { Clock } from '../time/clock.ts';
import { isHopeless, RunTimes } from './admission.ts';
import { carryOut, type Verdict } from './attempt.ts';
import { Dispatcher } from './dispatcher.ts';
import { Fleet } from './fleet.ts';
import { IdleTimer } from './idle.ts';
import type { Instance, Lease } from './instance.ts';
import { Journal } from './journal.ts';
import { aborted, LinkedSignal } from './linked-signal.ts';
import { eachInOrder } from './many-files.ts';
import { PoisonMarks } from './poison.ts';
import type { Runner } from './runner.ts';
import type { EngineStatus, InstanceStatus } from './status.ts';
import { cleaned } from './tidy.ts';
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

/** One task's way through the supervisor, for its trace. */
interface Passage {
  readonly arrived: number;
  attempts: number;
  runMs: number;
  instance: string;
  end: string;
}

/** Admits work to one engine: a bounded queue, slots in healthy instances, a second chance for victims of a crash. */
export class ProcessSupervisor<P extends Process> {
  readonly #options: SupervisorOptions<P>;
  readonly #journal = new Journal();
  readonly #fleet: Fleet<P>;
  readonly #dispatcher: Dispatcher<P>;
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
  #attempts = 0;

  constructor(options: SupervisorOptions<P>) {
    const { surroundings, settings, runner, name } = options;
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
    return this.#accept(() => this.#serve(task, options, true));
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
        this.#serve((process, attempt) => task(item, process, attempt), options, index === 0, calledOff),
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

  async #serve<T>(task: Task<P, T>, options: RunOptions, counts: boolean, calledOff?: AbortSignal): Promise<T> {
    using ends = new LinkedSignal(options.signal, this.#end.signal);
    const { signal } = ends;
    const { deadline } = options;
    const passage: Passage = { arrived: this.#clock.now(), attempts: 0, runMs: 0, instance: '', end: 'refused' };
    try {
      const suspicion = this.#marks.size > 0 ? fingerprintOf(options) : undefined;
      const lease = await this.#dispatcher.slot({ counts, deadline, signal, calledOff });
      const marked = await this.#isMarked(suspicion);
      if (calledOff?.aborted) {
        this.#fleet.release(lease);
        throw calledOff.reason;
      }
      if (!marked) {
        const verdict = await this.#attempt(task, signal, lease, passage);
        if (verdict.kind !== 'crashed') return this.#conclude(lease, verdict, signal);
        const instance = lease.instance.id;
        this.#log.warn({ engine: this.#options.engine, instance, err: verdict.error }, 'task lost its engine');
      }
      const granted = this.#dispatcher.slotApart({ deadline, signal });
      this.#fleet.release(lease); // only now that it stands in line: it goes ahead of new work
      const apart = await granted;
      const verdict = await this.#attempt(task, signal, apart, passage);
      if (verdict.kind === 'crashed' && !signal.aborted) await this.#condemn(options, verdict.error);
      return this.#conclude(apart, verdict, signal);
    } finally {
      this.#record(passage, options);
    }
  }

  async #attempt<T>(task: Task<P, T>, signal: AbortSignal, lease: Lease<P>, passage: Passage): Promise<Verdict<T>> {
    const { instance } = lease;
    if (signal.aborted) return { kind: 'aborted', clean: undefined };
    passage.attempts += 1;
    passage.instance = instance.id;
    const began = this.#clock.now();
    const verdict = await carryOut(instance, task, {
      id: `${instance.id}#${++this.#attempts}`,
      number: passage.attempts > 1 ? 2 : 1,
      signal,
      clock: this.#clock,
      retire: detail => this.#fleet.retire(instance, 'retired', detail),
      kill: () => this.#fleet.kill(instance, whyEnded(signal)),
    });
    passage.runMs += this.#clock.now() - began;
    passage.end = verdict.kind;
    if (verdict.kind !== 'crashed') instance.served += 1;
    return verdict;
  }

  /** Gives the slot back, as soon as it is clean, and hands over what became of the task. */
  #conclude<T>(lease: Lease<P>, verdict: Verdict<T>, signal: AbortSignal): T {
    void this.#vacate(lease, verdict);
    if (verdict.kind === 'done') return verdict.value;
    if (signal.aborted) throw signal.reason;
    if (verdict.kind === 'failed') throw verdict.error;
    const cause = verdict.kind === 'crashed' ? verdict.error : undefined;
    throw new Failure('CRASHED_TWICE', { engine: this.#options.name }, { cause });
  }

  async #vacate<T>(lease: Lease<P>, verdict: Verdict<T>): Promise<void> {
    const { instance } = lease;
    const clean = 'clean' in verdict ? verdict.clean : undefined;
    const how = clean && (await cleaned(clean, instance.death, this.#clock));
    if (clean && how !== 'clean') this.#fleet.retire(instance, 'unclean');
    if (clean && how === 'late') {
      this.#fleet.giveUpOn(lease);
      await Promise.race([clean.catch(() => {}), aborted(instance.death)]);
    }
    if (verdict.kind === 'done') this.#times.add(this.#clock.now() - lease.since);
    this.#fleet.release(lease);
  }

  /** A document that killed its engine even apart from all others: marked and logged. */
  async #condemn(options: RunOptions, error: Error): Promise<void> {
    const sha256 = await fingerprintOf(options);
    if (sha256 !== undefined) this.#marks.mark(sha256);
    this.#log.error({ engine: this.#options.engine, sha256, err: error }, 'document crashed its engine twice');
  }

  async #isMarked(suspicion: Promise<string | undefined> | undefined): Promise<boolean> {
    const fingerprint = suspicion && (await suspicion);
    return fingerprint !== undefined && this.#marks.has(fingerprint);
  }

  #record({ arrived, attempts, runMs, instance, end }: Passage, options: RunOptions): void {
    const { engine } = this.#options;
    const queueMs = Math.max(0, this.#clock.now() - arrived - runMs);
    this.#journal.queueTimes.add(queueMs);
    if (attempts > 0) this.#journal.runTimes.add(runMs);
    this.#log.debug({ engine, instance, queueMs, runMs, attempts, end }, 'task has ended');
    options.trace?.({ engine, instance, queueMs, runMs, attempts });
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

/** Why the work in an instance is ended by force. */
function whyEnded({ reason }: AbortSignal): string {
  if (Failure.is(reason, 'CLIENT_GONE')) return 'client gone';
  return Failure.is(reason, 'SHUTTING_DOWN') ? 'shutdown' : 'deadline';
}

/** A document whose fingerprint can't be had is none that could be known. */
async function fingerprintOf({ fingerprint }: RunOptions): Promise<string | undefined> {
  try {
    return await fingerprint?.();
  } catch {
    return undefined;
  }
}
