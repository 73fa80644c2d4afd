import type { Process } from './types.ts';

export type InstanceState = 'starting' | 'ready' | 'draining' | 'stopping' | 'dead';

/** One incarnation of an engine's process, and what its supervisor knows of it. */
export class Instance<P extends Process> {
  readonly id: string;
  readonly process: P;
  state: InstanceState = 'starting';
  /** On the supervisor's clock, in ms. */
  readyAt = 0;
  /** Slots in use: a task, and what it leaves to clean. */
  active = 0;
  /** Tasks that it has finished, well or not. */
  served = 0;
  residentBytes: number | undefined;
  /** Why it was ended on purpose: such an end is no failure of its own. */
  endedFor: string | undefined;

  constructor(id: string, process: P) {
    this.id = id;
    this.process = process;
    void process.ended.then(() => {
      this.state = 'dead';
    });
  }

  get usable(): boolean {
    return this.state === 'ready' && this.process.healthy;
  }

  /** Ends it at once. Settles when nothing of it is left. */
  async end(reason: string): Promise<void> {
    this.endedFor ??= reason;
    if (this.state !== 'dead') this.state = 'stopping';
    await this.process.stop();
  }
}
