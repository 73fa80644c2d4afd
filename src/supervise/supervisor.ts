// Contract only for now: the supervision work fills it in.
import type { Logger } from 'pino';
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
  readonly state: 'starting' | 'ready' | 'draining' | 'stopping';
  readonly activeTasks: number;
  readonly servedTasks: number;
  readonly sinceMs: number;
  readonly residentBytes?: number;
}

export interface EngineStatus {
  readonly healthy: boolean;
  /** False only when the last start failed and no instance is usable. */
  readonly usable: boolean;
  readonly lastError?: string;
  readonly queueSize: number;
  readonly activeTasks: number;
  /** Total, and by reason. */
  readonly restarts: number;
  readonly restartsByReason: Readonly<Record<string, number>>;
  readonly killsByReason: Readonly<Record<string, number>>;
  readonly instances: readonly InstanceStatus[];
}

export declare class ProcessSupervisor<P extends Process> {
  constructor(options: SupervisorOptions<P>);
  launch(): Promise<void>;
  shutdown(bound: AbortSignal): Promise<void>;
  get healthy(): boolean;
  get queueSize(): number;
  get activeTasks(): number;
  get restarts(): number;
  status(): EngineStatus;
  run<T>(task: Task<P, T>, options: RunOptions): Promise<T>;
  /** One request of many files, by the rule of many files: results in order of the items. */
  runAll<I, T>(
    items: readonly I[],
    task: (item: I, process: P, attempt: Attempt) => Promise<T | Early<T>>,
    options: RunOptions,
  ): Promise<T[]>;
}
