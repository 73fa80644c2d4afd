// Contract only for now: the supervision work fills it in.
import type { Worker } from './types.ts';

export type StartWorker = (signal: AbortSignal) => Promise<Worker>;

export declare class Runner implements Worker {
  startWorker(id: string, start: StartWorker): void;
  stopWorker(id: string): Promise<void>;
  kill(): void;
  wait(): Promise<void>;
}
