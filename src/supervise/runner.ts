import type { Logger } from 'pino';
import { sleep } from '../time/clock.ts';
import { type BackoffPolicy, DEFAULT_BACKOFF, restartDelay } from './backoff.ts';
import { startWithin } from './start-limit.ts';
import type { Surroundings, Worker } from './types.ts';

/**
 * Makes a worker. The signal aborts when the worker is stopped meanwhile or its start takes too long; the start must
 * then settle and leave nothing behind. A start that throws counts as a worker that ended with that error.
 */
export type StartWorker = (signal: AbortSignal) => Promise<Worker>;

export interface WorkerOptions {
  /** ms that one start may take. Absent: any time. */
  readonly startTimeout?: number;
  /** Told when the worker has failed, with its error and in how many ms it will start again. */
  onFailure?(error: Error, restartInMs: number): void;
}

export interface RunnerOptions {
  readonly surroundings: Surroundings;
  readonly log: Logger;
  /** An error that ends the runner and all its workers. Absent: none is. */
  readonly isFatal?: (error: Error) => boolean;
  /** Of two fatal errors the one for `wait()` to report. Absent: the earlier. */
  readonly moreImportant?: (a: Error, b: Error) => Error;
  readonly backoff?: BackoffPolicy;
}

export interface WorkerReport {
  readonly id: string;
  readonly state: WorkerState;
  /** ms for which it has been in this state. */
  readonly sinceMs: number;
  readonly restartsByReason: Readonly<Record<RestartCause, number>>;
  readonly lastError: string | undefined;
}

type WorkerState = 'starting' | 'running' | 'delayed' | 'stopping';
type RestartCause = 'start failed' | 'unexpected quit' | 'error';

/** Thrown by calls on a runner that has ended. */
export class RunnerDead extends Error {
  override readonly name = 'RunnerDead';
}

/** A worker that ended well though nobody had asked it to. */
export class UnexpectedQuit extends Error {
  override readonly name = 'UnexpectedQuit';
}

interface Recipe {
  readonly start: StartWorker;
  readonly options: WorkerOptions;
}

interface Entry {
  readonly id: string;
  recipe: Recipe;
  state: WorkerState;
  since: number;
  readonly restartsByReason: Record<RestartCause, number>;
  /** Failures in a row since work was last done. */
  fruitless: number;
  lastError: Error | undefined;
  /** Ends the start or the delay that is going on. */
  stop: AbortController;
  worker: Worker | undefined;
  /** What to start when a stop is through: the last call wins. */
  next: Recipe | undefined;
  /** Settles when the stop that is going on is through. */
  stopped: PromiseWithResolvers<void>;
}

interface End {
  readonly cause: RestartCause;
  readonly error: Error | undefined;
  readonly served: boolean;
}

/** Keeps a set of workers alive. Itself a worker, so runners nest. */
export class Runner implements Worker {
  readonly #options: RunnerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #ending = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #state: 'alive' | 'dying' | 'ended' = 'alive';
  #fatal: Error | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ended.promise.catch(() => {});
  }

  /**
   * Sees to it that a worker of this id runs, and returns at once. One that is being stopped starts again, in the new
   * way, as soon as it has ended. While the runner is ending nothing is started.
   * @throws RunnerDead
   */
  startWorker(id: string, start: StartWorker, options: WorkerOptions = {}): void {
    if (this.#state === 'ended') throw new RunnerDead(`worker ${id} can't be started: the runner has ended`);
    if (this.#state === 'dying') {
      this.#options.log.info({ worker: id }, 'worker not started: the runner is ending');
      return;
    }
    const recipe = { start, options };
    const known = this.#entries.get(id);
    if (known?.state === 'stopping') known.next = recipe;
    if (known) return;
    const entry: Entry = {
      id,
      recipe,
      state: 'starting',
      since: this.#now(),
      restartsByReason: { 'start failed': 0, 'unexpected quit': 0, error: 0 },
      fruitless: 0,
      lastError: undefined,
      stop: new AbortController(),
      worker: undefined,
      next: undefined,
      stopped: Promise.withResolvers(),
    };
    this.#entries.set(id, entry);
    void this.#live(entry);
  }

  /**
   * Stops a worker, also while it starts or waits to start again. Settles when it has ended; it is forgotten then,
   * unless it has been started anew meanwhile.
   * @throws RunnerDead
   */
  async stopWorker(id: string): Promise<void> {
    if (this.#state === 'ended') throw new RunnerDead(`worker ${id} can't be stopped: the runner has ended`);
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.next = undefined;
    this.#stop(entry);
    await entry.stopped.promise;
  }

  /** Aborts when workers can no longer be started. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  kill(): void {
    if (this.#state !== 'alive') return;
    this.#state = 'dying';
    this.#ending.abort(new RunnerDead('the runner has ended'));
    for (const entry of this.#entries.values()) {
      entry.next = undefined;
      this.#stop(entry);
    }
    this.#endIfEmpty();
  }

  wait(): Promise<void> {
    return this.#ended.promise;
  }

  /** A snapshot, for debugging, health and metrics. */
  report(): { readonly state: string; readonly workers: readonly WorkerReport[] } {
    const workers = [...this.#entries.values()].map(({ id, state, since, restartsByReason, lastError }) => ({
      id,
      state,
      sinceMs: this.#now() - since,
      restartsByReason: { ...restartsByReason },
      lastError: lastError?.message,
    }));
    return { state: this.#state, workers };
  }

  /** One worker's whole life: starts and ends, until it is stopped. */
  async #live(entry: Entry): Promise<void> {
    for (;;) {
      const end = await this.#liveOnce(entry);
      const asked = this.#isStopping(entry);
      const error = end.error ?? (asked ? undefined : unexpected(entry.id));
      if (error && this.#options.isFatal?.(error)) this.#die(error);
      if (error && !this.#isStopping(entry)) await this.#pause(entry, end, error);
      if (!this.#isStopping(entry)) this.#enter(entry, 'starting');
      else if (!this.#beginAnew(entry)) return this.#forget(entry);
    }
  }

  async #liveOnce(entry: Entry): Promise<End> {
    let worker: Worker | undefined;
    try {
      worker = await startWithin(entry.recipe.options.startTimeout, entry.id, entry.recipe.start, {
        clock: this.#options.surroundings.clock,
        signal: entry.stop.signal,
      });
      entry.worker = worker;
      // It may have been stopped while it was starting: then it must not live on.
      if (this.#isStopping(entry)) worker.kill();
      else this.#enter(entry, 'running');
      await worker.wait();
      return { cause: 'unexpected quit', error: undefined, served: worker.served ?? true };
    } catch (reason) {
      const error = reason instanceof Error ? reason : new Error(String(reason));
      return worker
        ? { cause: 'error', error, served: worker.served ?? true }
        : { cause: 'start failed', error, served: false };
    } finally {
      entry.worker = undefined;
    }
  }

  #stop(entry: Entry): void {
    if (entry.state === 'stopping') return;
    this.#enter(entry, 'stopping');
    entry.stop.abort(new Error(`worker ${entry.id} was stopped`));
    entry.worker?.kill();
  }

  /** Reports a failure and waits out the delay before the next start; a stop ends the waiting. */
  async #pause(entry: Entry, { cause, served }: End, error: Error): Promise<void> {
    entry.lastError = error;
    entry.fruitless = served ? 0 : entry.fruitless + 1;
    entry.restartsByReason[cause] += 1;
    const { backoff = DEFAULT_BACKOFF, surroundings, log } = this.#options;
    const delay = restartDelay(backoff, entry.fruitless, surroundings.random());
    log.warn({ worker: entry.id, cause, restartInMs: delay, err: error }, 'worker ended and starts again');
    if (delay > 0) this.#enter(entry, 'delayed');
    entry.recipe.options.onFailure?.(error, delay);
    if (delay > 0 && !this.#isStopping(entry))
      await sleep(surroundings.clock, delay, entry.stop.signal).catch(() => {});
  }

  /** After a stop: an ordinary worker again, if somebody has asked for one meanwhile. */
  #beginAnew(entry: Entry): boolean {
    if (!entry.next) return false;
    entry.stopped.resolve();
    entry.stopped = Promise.withResolvers();
    entry.recipe = entry.next;
    entry.next = undefined;
    entry.fruitless = 0;
    entry.stop = new AbortController();
    this.#enter(entry, 'starting');
    return true;
  }

  #die(error: Error): void {
    const rank = this.#options.moreImportant;
    this.#fatal = this.#fatal && rank ? rank(this.#fatal, error) : (this.#fatal ?? error);
    this.#options.log.error({ err: error }, 'a worker failed for good: all workers are ended');
    this.kill();
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.id);
    entry.stopped.resolve();
    this.#endIfEmpty();
  }

  #endIfEmpty(): void {
    if (this.#state !== 'dying' || this.#entries.size > 0) return;
    this.#state = 'ended';
    if (this.#fatal) this.#ended.reject(this.#fatal);
    else this.#ended.resolve();
  }

  #enter(entry: Entry, state: WorkerState): void {
    entry.state = state;
    entry.since = this.#now();
  }

  // A method, since the state changes across awaits in ways that control-flow analysis can't see.
  #isStopping(entry: Entry): boolean {
    return entry.state === 'stopping';
  }

  #now(): number {
    return this.#options.surroundings.clock.now();
  }
}

function unexpected(id: string): UnexpectedQuit {
  return new UnexpectedQuit(`worker ${id} ended though nobody had asked it to`);
}
