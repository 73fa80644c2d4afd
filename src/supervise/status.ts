import type { InstanceState } from './instance.ts';
import type { Times } from './journal.ts';

export interface InstanceStatus {
  readonly id: string;
  readonly state: InstanceState;
  readonly activeTasks: number;
  readonly servedTasks: number;
  /** ms for which it has been in its state. */
  readonly sinceMs: number;
  readonly residentBytes: number | undefined;
}

/** All that is to be known of an engine, for health, metrics and debugging. */
export interface EngineStatus {
  /** False only when the last start failed and no instance is usable. */
  readonly healthy: boolean;
  /** The same. */
  readonly usable: boolean;
  readonly lastError: string | undefined;
  /** Requests that wait for a slot. */
  readonly queueSize: number;
  /** Slots in use. */
  readonly activeTasks: number;
  /** Tasks whose instance died and that wait for their other chance. */
  readonly waitingVictims: number;
  /** Documents that get one attempt only, for a while. */
  readonly markedDocuments: number;
  readonly starts: number;
  readonly startsByReason: Readonly<Record<string, number>>;
  readonly restarts: number;
  readonly restartsByReason: Readonly<Record<string, number>>;
  readonly killsByReason: Readonly<Record<string, number>>;
  readonly startTimes: Times;
  readonly queueTimes: Times;
  readonly runTimes: Times;
  readonly instances: readonly InstanceStatus[];
}
