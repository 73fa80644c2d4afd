import type { Logger } from 'pino';
import { type BackoffPolicy, DEFAULT_BACKOFF, restartDelay } from './backoff.ts';
import type { Surroundings, Worker } from './types.ts';

/**
 * Makes a worker. The signal aborts when the worker is stopped meanwhile; the start must then settle and leave nothing
 * behind. A start that throws counts as a worker that ended with that error.
 */
export type StartWorker = (signal: AbortSignal) => Promise<Worker>;

export interface RunnerOptions {
  readonly surroundings: Surroundings;
  readonly log: Logger;
  /** An error that ends the runner and all its workers. Default: none is. */
  readonly isFatal?: (error: Error) => boolean;
  /** Of two fatal errors the one that `wait()` reports. Default: the earlier. */
  readonly moreImportant?: (a: Error, b: Error) => Error;
  readonly backoff?: BackoffPolicy;
}

export interface WorkerReport {
  readonly id: string;
  readonly state: WorkerState;
  /** On the runner's clock, in ms: since when it is in this state. */
  readonly since: number;
  readonly restarts: number;
  readonly lastError: string | undefined;
}

type WorkerState = 'starting' | 'running' | 'delayed' | 'stopping';

/** Thrown by calls on a runner that has ended. */
export class RunnerDead extends Error {
  override readonly name = 'RunnerDead';
}

/** A worker that ended well though nobody had asked it to. */
export class UnexpectedQuit extends Error {
  override readonly name = 'UnexpectedQuit';
}

interface Entry {
  readonly id: string;
  start: StartWorker;
  onDelay: OnDelay | undefined;
  state: WorkerState;
  since: number;
  restarts: number;
  /** Failures in a row since work was last done. */
  fruitless: number;
  lastError: Error | undefined;
  /** Aborts the start or the delay that is going on. */
  stop: AbortController;
  worker: Worker | undefined;
  /** What to start when a stop is through: the last call wins. */
  next: { start: StartWorker; onDelay: OnDelay | undefined } | undefined;
  /** Settles when the stop that is going on is through. */
  stopped: PromiseWithResolvers<void>;
}

/** Told when a worker failed and will start again after so many ms. */
export type OnDelay = (ms: number, error: Error) => void;

/** Keeps a set of workers alive. Itself a worker, so runners nest. */
export class Runner implements Worker {
  readonly #options: RunnerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #ended = Promise.withResolvers<void>();
  #state: 'alive' | 'dying' | 'ended' = 'alive';
  #fatal: Error | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ended.promise.catch(() => {});
  }

  /**
   * Sees to it that a worker of this id runs, and returns at once. One that is being stopped starts again, in the new
   * way, as soon as it has ended.
   * @throws RunnerDead
   */
  startWorker(id: string, start: StartWorker, onDelay?: OnDelay): void {
    if (this.#state === 'ended') throw new RunnerDead(`worker ${id} can't be started: the runner has ended`);
    if (this.#state === 'dying') {
      this.#options.log.info({ worker: id }, 'worker not started: the runner is ending');
      return;
    }
    const known = this.#entries.get(id);
    if (known?.state === 'stopping') known.next = { start, onDelay };
    if (known) return;
    const entry: Entry = {
      id,
      start,
      onDelay,
      state: 'starting',
      since: this.#now(),
      restarts: 0,
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
   * Stops a worker; settles when it has ended and is forgotten, or has been started anew meanwhile.
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

  kill(): void {
    if (this.#state !== 'alive') return;
    this.#state = 'dying';
    for (const entry of this.#entries.values()) {
      entry.next = undefined;
      this.#stop(entry);
    }
    this.#endIfEmpty();
  }

  wait(): Promise<void> {
    return this.#ended.promise;
  }

  report(): { readonly state: string; readonly workers: readonly WorkerReport[] } {
    const workers = [...this.#entries.values()].map(({ id, state, since, restarts, lastError }) => ({
      id,
      state,
      since,
      restarts,
      lastError: lastError?.message,
    }));
    return { state: this.#state, workers };
  }

  /** One worker's whole life: starts and ends, until it is stopped or the runner ends. */
  async #live(entry: Entry): Promise<void> {
    while (true) {
      const { error, served } = await this.#liveOnce(entry);
      if (error && this.#options.isFatal?.(error)) this.#die(error);
      if (entry.state === 'stopping') {
        if (!this.#renew(entry)) return this.#forget(entry);
        continue;
      }
      entry.lastError = error ?? new UnexpectedQuit(`worker ${entry.id} ended though nobody had asked it to`);
      entry.fruitless = served ? 0 : entry.fruitless + 1;
      entry.restarts += 1;
      const delay = restartDelay(
        this.#options.backoff ?? DEFAULT_BACKOFF,
        entry.fruitless,
        this.#options.surroundings.random(),
      );
      this.#options.log.warn({ worker: entry.id, delay, err: entry.lastError }, 'worker ended and will start again');
      entry.onDelay?.(delay, entry.lastError);
      if (delay > 0) await this.#delay(entry, delay);
      if (this.#isStopping(entry)) {
        if (!this.#renew(entry)) return this.#forget(entry);
        continue;
      }
      this.#enter(entry, 'starting');
    }
  }

  async #liveOnce(entry: Entry): Promise<{ error: Error | undefined; served: boolean }> {
    let worker: Worker | undefined;
    try {
      worker = await entry.start(entry.stop.signal);
      entry.worker = worker;
      // It may have been stopped while it was starting: then it must not live on.
      if (this.#isStopping(entry)) worker.kill();
      else this.#enter(entry, 'running');
      await worker.wait();
      return { error: undefined, served: worker.served ?? true };
    } catch (reason) {
      const error = reason instanceof Error ? reason : new Error(String(reason));
      return { error, served: worker ? (worker.served ?? true) : false };
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

  /** After a stop: an ordinary worker again, if somebody has asked for one meanwhile. */
  #renew(entry: Entry): boolean {
    if (!entry.next || this.#state !== 'alive') return false;
    entry.stopped.resolve();
    entry.stopped = Promise.withResolvers();
    Object.assign(entry, entry.next);
    entry.next = undefined;
    entry.fruitless = 0;
    entry.stop = new AbortController();
    this.#enter(entry, 'starting');
    return true;
  }

  #delay(entry: Entry, ms: number): Promise<void> {
    this.#enter(entry, 'delayed');
    return new Promise(resolve => {
      const cancel = this.#options.surroundings.clock.after(ms, resolve);
      entry.stop.signal.addEventListener(
        'abort',
        () => {
          cancel();
          resolve();
        },
        { once: true },
      );
    });
  }

  #die(error: Error): void {
    const rank = this.#options.moreImportant;
    this.#fatal = this.#fatal && rank ? rank(this.#fatal, error) : (this.#fatal ?? error);
    this.#options.log.error({ err: error }, 'fatal error of a worker');
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
