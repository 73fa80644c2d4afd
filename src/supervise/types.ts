import type { Clock } from '../time/clock.ts';

/** Something that runs until it ends: asked to stop by `kill`, awaited by `wait`. */
export interface Worker {
  /** Asks it to stop and returns at once. */
  kill(): void;
  /** Settles when it has ended; rejects with its error if it failed. */
  wait(): Promise<void>;
  /** Whether it has done any work: one that has starts again without delay. Absent: yes. */
  readonly served?: boolean;
}

/** One running engine instance, as its supervisor sees it. An engine implements this and nothing else. */
export interface Process {
  /**
   * Makes it ready: settles when a real conversion has proved it. Aborting the signal must make it settle (reject)
   * soon and leave no operating-system process and no file behind; so must any failure.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Ends it, children and grandchildren too, and removes its folder. Settles when nothing is left; may be called twice. */
  stop(): Promise<void>;
  /** Known from events, so free to ask: started, and neither dead nor broken. */
  readonly healthy: boolean;
  /** Settles once, when the instance has ended for whatever reason. The error has its last lines of output. */
  readonly ended: Promise<Error | undefined>;
  /**
   * Ends one attempt by the narrowest means (a tab, where there are tabs) and settles when its work has truly ended.
   * False: there is no such means, the instance itself has to go.
   */
  abandon(attempt: Attempt): Promise<boolean>;
  /** What its process tree uses now; for renewal by memory and for the watchdog. */
  usage(): Promise<Usage | undefined>;
  /** A cheap question that a living instance answers at once, even while busy if it can; for the watchdog. */
  ping?(): Promise<void>;
}

export interface Usage {
  /** Resident bytes of the process tree. */
  readonly residentBytes: number;
  /** CPU time that the tree has used so far, in ms. */
  readonly cpuMs: number;
  /** Whether a process of the tree is stopped (state T). */
  readonly stopped: boolean;
}

/** One try of one task in one instance. */
export interface Attempt {
  readonly id: string;
  /** The instance that runs it, such as `libreoffice-2.7`. */
  readonly instance: string;
  /** 1, or 2 for a victim that runs again in a throw-away instance. */
  readonly number: 1 | 2;
  /** Aborts at the task's deadline, when the client has gone, at shutdown's bound, or when its instance has died. */
  readonly signal: AbortSignal;
  /**
   * The instance may not serve anybody else after this attempt (a document left something behind in it): it takes no
   * more tasks, and is replaced.
   */
  retireInstance(reason: string): void;
}

/** Thrown by a task when the engine died under it, though the instance may live (a dead renderer): it is a victim. */
export class EngineCrash extends Error {
  override readonly name = 'EngineCrash';
}

/** Returned by a task that wants to hand over its result before its slot is clean. See {@link Task}. */
export interface Early<T> {
  readonly result: T;
  /** Settles when the slot is clean; the slot is free only then. A rejection retires the instance. */
  readonly clean: Promise<void>;
}

/** What a caller wants done in an instance. Pure in its effect: a second attempt first deletes the first one's output. */
export type Task<P extends Process, T> = (process: P, attempt: Attempt) => Promise<T | Early<T>>;

export interface RunOptions {
  /** The request's one signal: deadline, client gone, shutdown. */
  readonly signal: AbortSignal;
  /** When the signal will abort for lack of time, on the supervisor's clock, in ms. Absent: never. */
  readonly deadline?: number;
  /** SHA-256 over route, files and fields, asked for only when the task has killed an instance or marks exist. */
  readonly fingerprint?: () => Promise<string>;
  /** Told once the task has settled: how long it waited and ran, in ms. */
  readonly trace?: (trace: RunTrace) => void;
}

export interface RunTrace {
  readonly engine: string;
  readonly instance: string;
  readonly queueMs: number;
  readonly runMs: number;
  readonly attempts: number;
}

/** How an engine is supervised; every value comes from the settings that all engines share. */
export interface SupervisorSettings {
  /** Instances kept side by side, at least 1. */
  readonly instances: number;
  /** Tasks at once in one instance, at least 1. */
  readonly maxConcurrency: number;
  /** Requests that may wait; 0 means any number. */
  readonly maxQueueSize: number;
  /** Tasks after which an instance is renewed; 0 means never. */
  readonly restartAfter: number;
  /** ms that one start may take. */
  readonly startTimeout: number;
  /** ms without work after which the engine is stopped; 0 means never. */
  readonly idleShutdownTimeout: number;
  /** Resident bytes of an instance's process tree past which it is renewed; 0 means never. */
  readonly maxMemory: number;
  /** ms of life after which an instance is renewed; 0 means never. */
  readonly maxAge: number;
  /** Renew by stopping first and starting then, where memory for two is short. */
  readonly renewInPlace: boolean;
  /** ms for which a document that crashed the engine twice stays marked. */
  readonly poisonTtl: number;
  /** Refuse at once what can't be served before its deadline by far. Absent: yes. */
  readonly refuseHopeless?: boolean;
}

/** What time and chance are to supervision; tests hand in their own. */
export interface Surroundings {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}
