import type { Logger } from 'pino';
import { Instance } from './instance.ts';
import type { Journal } from './journal.ts';
import { aborted } from './linked-signal.ts';
import { type Runner, RunnerDead } from './runner.ts';
import type { Process, SupervisorSettings, Surroundings, Worker } from './types.ts';

/** What all members of an engine share. */
export interface MemberOptions<P extends Process> {
  readonly engine: string;
  readonly settings: SupervisorSettings;
  readonly runner: Runner;
  readonly surroundings: Surroundings;
  readonly log: Logger;
  readonly journal: Journal;
  create(id: string): P;
}

export interface MemberEvents<P extends Process> {
  onReady(member: Member<P>): void;
  /** A start failed; it is tried again, unless the member is stopped now. */
  onStartFailed(member: Member<P>, error: Error): void;
  /** Its instance has ended and is started again, unless the member is stopped now. */
  onDeath(member: Member<P>, reason: string): void;
}

/** Reasons for an end that say nothing against the instance: it starts again without delay. */
const BLAMELESS = new Set(['deadline', 'client gone', 'shutdown', 'drain']);

/**
 * One worker of the Runner: an instance and, should it die, its next incarnation, under one id. The id carries a
 * generation, so a successor lives beside the one that it replaces.
 */
export class Member<P extends Process> {
  readonly id: string;
  /** Its place among the engine's instances, from 1. */
  readonly place: number | 'extra';
  /** The current incarnation; undefined while the Runner waits to start the next. */
  instance: Instance<P> | undefined;
  /** It takes no new tasks, and isn't started again. */
  departing = false;
  /** Its last start failed, and when on the clock the next comes, in ms. */
  failedStart: { readonly retryAt: number } | undefined;
  readonly #options: MemberOptions<P>;
  readonly #events: MemberEvents<P>;
  #startReason: string;
  #wasReady = false;

  constructor(
    { place, generation, reason }: { place: number | 'extra'; generation: number; reason: string },
    options: MemberOptions<P>,
    events: MemberEvents<P>,
  ) {
    this.id = `${options.engine}-${place}.${generation}`;
    this.place = place;
    this.#startReason = reason;
    this.#options = options;
    this.#events = events;
  }

  /** Has the Runner start it and keep it alive. */
  begin(): void {
    this.#options.runner.startWorker(this.id, signal => this.#start(signal), {
      startTimeout: this.#options.settings.startTimeout,
      onFailure: (error, restartInMs) => this.#onFailure(error, restartInMs),
    });
  }

  /** Has the Runner end it; settles when nothing of it is left. */
  async stop(): Promise<void> {
    try {
      await this.#options.runner.stopWorker(this.id);
    } catch (error) {
      if (!(error instanceof RunnerDead)) throw error; // then it has ended all there was
    }
  }

  async #start(signal: AbortSignal): Promise<Worker> {
    const { create, surroundings, log, journal, engine } = this.#options;
    const { clock } = surroundings;
    const began = clock.now();
    this.failedStart = undefined;
    this.#wasReady = false;
    const instance = new Instance(this.id, create(this.id), { clock, log });
    this.instance = instance;
    try {
      await instance.start(signal);
    } catch (error) {
      this.instance = undefined;
      throw error;
    }
    this.#wasReady = true;
    const ms = Math.round(clock.now() - began);
    journal.starts.add(this.#startReason);
    journal.startTimes.add(ms);
    log.info({ engine, instance: this.id, reason: this.#startReason, ms }, 'instance is ready');
    this.#events.onReady(this);
    return this.#asWorker(instance);
  }

  #asWorker(instance: Instance<P>): Worker {
    return {
      kill: () => void instance.end('stopped'),
      wait: () => this.#wait(instance),
      get served() {
        return instance.served > 0 || BLAMELESS.has(instance.endedFor ?? '');
      },
    };
  }

  async #wait(instance: Instance<P>): Promise<void> {
    await aborted(instance.death);
    const reason = instance.endedFor ?? 'crash';
    // It may have died by itself: its group, folder and sockets still have to go before the next one comes.
    await instance.end(reason);
    this.instance = undefined;
    this.#startReason = reason;
    this.#events.onDeath(this, reason);
    throw instance.death.reason;
  }

  #onFailure(error: Error, restartInMs: number): void {
    if (this.#wasReady) return;
    this.failedStart = { retryAt: this.#options.surroundings.clock.now() + restartInMs };
    this.#events.onStartFailed(this, error);
  }
}
