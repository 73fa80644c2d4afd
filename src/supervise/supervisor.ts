import type { Logger } from 'pino';
import { Failure } from '../failure/failure.ts';
import { isHopeless, RunTimes } from './admission.ts';
import { carryOut, type Verdict } from './attempt.ts';
import { Fleet } from './fleet.ts';
import { IdleTimer } from './idle.ts';
import type { Instance, Lease } from './instance.ts';
import { Journal } from './journal.ts';
import { aborted, LinkedSignal } from './linked-signal.ts';
import { eachInOrder } from './many-files.ts';
import { PoisonMarks } from './poison.ts';
import { WaitingLine } from './queue.ts';
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
}

/** Admits work to one engine: a bounded queue, slots in healthy instances, a second chance for victims of a crash. */
export class ProcessSupervisor<P extends Process> {
  readonly #options: SupervisorOptions<P>;
  readonly #line = new WaitingLine<Lease<P>>(() => this.#dispatch());
  /** They wait apart, for the throw-away instance, and go ahead of new work. */
  readonly #victims = new WaitingLine<Lease<P>>(() => this.#dispatch());
  readonly #journal = new Journal();
  readonly #fleet: Fleet<P>;
  readonly #marks: PoisonMarks;
  readonly #times = new RunTimes();
  readonly #idle: IdleTimer;
  /** Aborts when shutdown's bound is reached. */
  readonly #end = new AbortController();
  readonly #watchers = new Set<() => void>();
  /** Requests that were accepted and are not through. */
  #accepted = 0;
  #always = false;
  #closing = false;
  #attempts = 0;

  constructor(options: SupervisorOptions<P>) {
    const { surroundings, settings } = options;
    this.#options = options;
    this.#marks = new PoisonMarks(surroundings.clock, settings.poisonTtl);
    this.#idle = new IdleTimer(surroundings.clock, settings.idleShutdownTimeout, () => this.#stopIdle());
    this.#fleet = new Fleet({
      ...options,
      create: id => options.create(id),
      journal: this.#journal,
      onChange: () => this.#dispatch(),
    });
    options.runner.ending.addEventListener('abort', () => this.#end.abort(new Failure('SHUTTING_DOWN')), {
      once: true,
    });
  }

  /**
   * Starts the engine ahead of any work, and keeps trying. Settles when the first instance is usable (the others follow
   * by themselves), or when the engine is shut down.
   */
  async launch(): Promise<void> {
    if (this.#closing) return;
    this.#always = true;
    this.#dispatch();
    await this.#until(() => this.#fleet.anyUsable || this.#closing);
  }

  /** Finishes what was accepted until the bound aborts, refuses the rest, then ends the engine. */
  async shutdown(bound: AbortSignal): Promise<void> {
    this.#closing = true;
    this.#always = false;
    this.#dispatch();
    await Promise.race([this.#until(() => this.#atRest), aborted(bound, this.#end.signal)]);
    this.#end.abort(new Failure('SHUTTING_DOWN'));
    await this.#fleet.stopAll();
    await this.#until(() => this.#atRest && !this.#fleet.exists);
  }

  /** Not started, or renewed as planned: healthy. Down only when no instance is usable and the last start failed. */
  get healthy(): boolean {
    return this.#fleet.down === undefined;
  }

  /** Requests that wait; one for which there is a slot doesn't, also while its instance is still starting. */
  get queueSize(): number {
    return this.#line.requestsBeyond(this.#freeSlots);
  }

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
      waitingVictims: this.#victims.length,
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
    const { settings, surroundings, runner } = this.#options;
    if (signal.aborted) throw signal.reason;
    if (this.#closing || runner.ending.aborted) throw new Failure('SHUTTING_DOWN');
    const waitingAhead = this.#line.length - this.#freeSlots;
    if (waitingAhead < 0) return;
    if (settings.maxQueueSize > 0 && this.queueSize >= settings.maxQueueSize) throw new Failure('QUEUE_FULL');
    const load = {
      waitingAhead,
      slots: this.#fleet.capacity,
      times: this.#times,
      timeLeftMs: deadline - surroundings.clock.now(),
    };
    if (settings.refuseHopeless !== false && isHopeless(load)) throw new Failure('OVERLOADED');
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
    const passage = { arrived: this.#options.surroundings.clock.now(), attempts: 0, runMs: 0, instance: '' };
    const suspicion = this.#marks.size > 0 ? fingerprintOf(options) : undefined;
    const lease = await this.#waitIn(this.#line, signal, options, counts, calledOff);
    if (!(await this.#isMarked(suspicion))) {
      const verdict = await this.#attempt(task, signal, lease, passage);
      if (verdict.kind !== 'crashed' || signal.aborted) return this.#conclude(verdict, signal, options, passage);
      this.#log.warn({ ...this.#of(lease.instance), err: verdict.error }, 'task lost its engine and is done once more');
    } else this.#fleet.release(lease);
    const apart = await this.#waitIn(this.#victims, signal, options, false);
    const verdict = await this.#attempt(task, signal, apart, passage);
    if (verdict.kind === 'crashed' && !signal.aborted) await this.#condemn(options, verdict.error);
    return this.#conclude(verdict, signal, options, passage);
  }

  /** Waits for a slot. */
  async #waitIn(
    line: WaitingLine<Lease<P>>,
    signal: AbortSignal,
    { deadline }: RunOptions,
    counts: boolean,
    calledOff?: AbortSignal,
  ): Promise<Lease<P>> {
    using patience = new LinkedSignal(signal, calledOff);
    const granted = line.join({ counts, deadline, signal: patience.signal });
    this.#dispatch();
    try {
      return await granted;
    } catch (error) {
      // That its time was up says little to a client whose time went by for want of an engine.
      throw Failure.is(error, 'TIME_LIMIT') && this.#fleet.down ? this.#unavailable() : error;
    }
  }

  /** One attempt, with all that it leaves to its slot. */
  async #attempt<T>(task: Task<P, T>, signal: AbortSignal, lease: Lease<P>, passage: Passage): Promise<Verdict<T>> {
    const { clock } = this.#options.surroundings;
    const { instance } = lease;
    if (signal.aborted) {
      this.#fleet.release(lease);
      throw signal.reason;
    }
    passage.attempts += 1;
    passage.instance = instance.id;
    const began = clock.now();
    const verdict = await carryOut(instance, task, {
      id: `${instance.id}#${++this.#attempts}`,
      number: passage.attempts > 1 ? 2 : 1,
      signal,
      clock,
      retire: detail => this.#fleet.retire(instance, 'retired', detail),
      kill: () => this.#fleet.kill(instance, whyEnded(signal)),
    });
    passage.runMs += clock.now() - began;
    void this.#vacate(lease, verdict);
    return verdict;
  }

  /** Gives the slot back when it is clean. */
  async #vacate<T>(lease: Lease<P>, verdict: Verdict<T>): Promise<void> {
    const { instance } = lease;
    const { clock } = this.#options.surroundings;
    if (verdict.kind !== 'crashed') instance.served += 1;
    const clean = 'clean' in verdict ? verdict.clean : undefined;
    if (clean) {
      const how = await cleaned(clean, instance.death, clock);
      if (how !== 'clean') this.#fleet.retire(instance, 'unclean');
      if (how === 'late') {
        this.#fleet.giveUpOn(lease);
        await Promise.race([clean.catch(() => {}), aborted(instance.death)]);
      }
    }
    if (verdict.kind === 'done') this.#times.add(clock.now() - lease.since);
    this.#fleet.release(lease);
  }

  /** Hands over what became of a task, and puts it on record. */
  #conclude<T>(verdict: Verdict<T>, signal: AbortSignal, options: RunOptions, passage: Passage): T {
    const { instance, arrived, runMs, attempts } = passage;
    const queueMs = Math.max(0, this.#options.surroundings.clock.now() - arrived - runMs);
    const { engine } = this.#options;
    this.#journal.queueTimes.add(queueMs);
    this.#journal.runTimes.add(runMs);
    this.#log.debug({ engine, instance, queueMs, runMs, attempts, end: verdict.kind }, 'task has ended');
    options.trace?.({ engine, instance, queueMs, runMs, attempts });
    if (verdict.kind === 'done') return verdict.value;
    if (signal.aborted) throw signal.reason;
    if (verdict.kind === 'failed') throw verdict.error;
    const cause = verdict.kind === 'crashed' ? verdict.error : undefined;
    throw new Failure('CRASHED_TWICE', { engine: this.#options.name }, { cause });
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

  /** Gives free slots to those who wait, in their order, and sees to it that there are instances for them. */
  #dispatch(): void {
    if (!this.#end.signal.aborted) this.#serveWaiting();
    this.#changed();
  }

  #serveWaiting(): void {
    this.#refuseLate(this.#victims, this.#fleet.nextExtraStartAt);
    while (this.#victims.serveFirst(({ deadline }) => this.#fleet.takeExtra(deadline)));
    this.#refuseLate(this.#line, this.#fleet.nextStartAt);
    while (this.#line.serveFirst(({ deadline }) => this.#fleet.take(deadline, this.#reserved)));
    this.#fleet.want({ waiting: this.#line.length, victims: this.#victims.length > 0, always: this.#always });
  }

  /** Those whose deadline comes before the next attempt to start are told now. */
  #refuseLate(line: WaitingLine<Lease<P>>, nextStartAt: number | undefined): void {
    if (nextStartAt === undefined) return;
    line.refuse(
      () => this.#unavailable(),
      ({ deadline }) => deadline !== undefined && deadline <= nextStartAt,
    );
  }

  #unavailable(): Failure {
    return new Failure('ENGINE_UNAVAILABLE', { engine: this.#options.name }, { cause: this.#fleet.lastFailure });
  }

  /** A slot that new work leaves to a victim, which goes ahead of it. */
  get #reserved(): number {
    return this.#victims.length > 0 && this.#fleet.extraIsComing ? 1 : 0;
  }

  get #freeSlots(): number {
    return Math.max(0, this.#fleet.capacity - this.#fleet.active - this.#reserved);
  }

  get #atRest(): boolean {
    return this.#accepted === 0 && this.#fleet.active === 0;
  }

  /** Something has changed: whoever waits for a state of things looks again, and an idle engine's time begins. */
  #changed(): void {
    this.#idle.update(this.#atRest && this.#fleet.exists && !this.#closing);
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

  #stopIdle(): void {
    this.#always = false;
    this.#log.info({ engine: this.#options.engine }, 'engine is stopped: idle');
    void this.#fleet.stopAll();
  }

  #of(instance: Instance<P>) {
    return { engine: this.#options.engine, instance: instance.id };
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
