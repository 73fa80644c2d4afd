import type { Logger } from 'pino';
import { Failure } from '../failure/failure.ts';
import type { Clock } from '../time/clock.ts';
import type { RunTimes } from './admission.ts';
import { carryOut, type Verdict } from './attempt.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Fleet } from './fleet.ts';
import type { Lease } from './instance.ts';
import type { Journal } from './journal.ts';
import { aborted, LinkedSignal } from './linked-signal.ts';
import type { PoisonMarks } from './poison.ts';
import { cleaned } from './tidy.ts';
import type { Process, RunOptions, Task } from './types.ts';

export interface TaskDeskOptions<P extends Process> {
  readonly engine: string;
  /** The engine's name for people. */
  readonly name: string;
  readonly fleet: Fleet<P>;
  readonly dispatcher: Dispatcher<P>;
  readonly marks: PoisonMarks;
  readonly journal: Journal;
  /** How long recent tasks held their slots. */
  readonly times: RunTimes;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when nothing may go on any more. */
  readonly end: AbortSignal;
}

export interface TaskOptions extends RunOptions {
  /** Whether it stands for its request in the queue. */
  readonly counts: boolean;
  /** Aborts when it need not begin any more. */
  readonly calledOff?: AbortSignal;
}

/** One task's way, for its trace. */
interface Passage {
  readonly arrived: number;
  attempts: number;
  runMs: number;
  instance: string;
  end: string;
}

/** Sees one task through: its slot, its attempt, its other chance, and what is put on record of it. */
export class TaskDesk<P extends Process> {
  readonly #options: TaskDeskOptions<P>;
  #attempts = 0;

  constructor(options: TaskDeskOptions<P>) {
    this.#options = options;
  }

  /**
   * Settles when the work has truly ended, but for what an early result leaves to clean.
   * @throws Failure `ENGINE_UNAVAILABLE`, `CRASHED_TWICE`; the reason of the signal that aborted; what the task throws
   */
  async serve<T>(task: Task<P, T>, options: TaskOptions): Promise<T> {
    const { dispatcher, fleet, marks, clock, log, engine, end } = this.#options;
    const { counts, deadline, calledOff } = options;
    using ends = new LinkedSignal(options.signal, end);
    const { signal } = ends;
    const passage: Passage = { arrived: clock.now(), attempts: 0, runMs: 0, instance: '', end: 'refused' };
    try {
      const fingerprint = marks.size > 0 ? fingerprintOf(options) : undefined;
      const lease = await dispatcher.slot({ counts, deadline, signal, calledOff });
      const marked = marks.has(await fingerprint);
      if (calledOff?.aborted) {
        fleet.release(lease);
        throw calledOff.reason;
      }
      if (!marked) {
        const verdict = await this.#attempt(task, signal, lease, passage);
        if (verdict.kind !== 'crashed') return this.#conclude(lease, verdict, signal);
        log.warn({ engine, instance: lease.instance.id, err: verdict.error }, 'task lost its engine');
      }
      const granted = dispatcher.slotApart({ deadline, signal });
      fleet.release(lease); // only now that it stands in line: it goes ahead of new work
      const apart = await granted;
      const verdict = await this.#attempt(task, signal, apart, passage);
      if (verdict.kind === 'crashed' && !signal.aborted) await this.#condemn(options, verdict.error);
      return this.#conclude(apart, verdict, signal);
    } finally {
      this.#record(passage, options);
    }
  }

  async #attempt<T>(task: Task<P, T>, signal: AbortSignal, lease: Lease<P>, passage: Passage): Promise<Verdict<T>> {
    const { clock, fleet } = this.#options;
    const { instance } = lease;
    if (signal.aborted) return { kind: 'aborted', clean: undefined };
    passage.attempts += 1;
    passage.instance = instance.id;
    const began = clock.now();
    const verdict = await carryOut(instance, task, {
      id: `${instance.id}#${++this.#attempts}`,
      number: passage.attempts > 1 ? 2 : 1,
      signal,
      clock,
      retire: detail => fleet.retire(instance, 'retired', detail),
      kill: () => fleet.kill(instance, whyEnded(signal)),
    });
    passage.runMs += clock.now() - began;
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
    const { clock, fleet, times } = this.#options;
    const { instance } = lease;
    const clean = 'clean' in verdict ? verdict.clean : undefined;
    const how = clean && (await cleaned(clean, instance.death, clock));
    if (clean && how !== 'clean') fleet.retire(instance, 'unclean');
    if (clean && how === 'late') {
      fleet.giveUpOn(lease);
      await Promise.race([clean.catch(() => {}), aborted(instance.death)]);
    }
    if (verdict.kind === 'done') times.add(clock.now() - lease.since);
    fleet.release(lease);
  }

  /** A document that killed its engine even apart from all others: marked and logged. */
  async #condemn(options: RunOptions, error: Error): Promise<void> {
    const sha256 = await fingerprintOf(options);
    this.#options.marks.mark(sha256);
    this.#options.log.error({ engine: this.#options.engine, sha256, err: error }, 'document crashed its engine twice');
  }

  #record({ arrived, attempts, runMs, instance, end }: Passage, options: RunOptions): void {
    const { engine, journal, clock, log } = this.#options;
    const queueMs = Math.max(0, clock.now() - arrived - runMs);
    journal.queueTimes.add(queueMs);
    if (attempts > 0) journal.runTimes.add(runMs);
    log.debug({ engine, instance, queueMs, runMs, attempts, end }, 'task has ended');
    options.trace?.({ engine, instance, queueMs, runMs, attempts });
  }
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
