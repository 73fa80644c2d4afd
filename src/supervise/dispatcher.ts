import { Failure } from '../failure/failure.ts';
import type { Fleet } from './fleet.ts';
import type { Lease } from './instance.ts';
import { LinkedSignal } from './linked-signal.ts';
import { WaitingLine } from './queue.ts';
import type { Process } from './types.ts';

export interface DispatcherOptions<P extends Process> {
  /** The engine's name for people. */
  readonly name: string;
  readonly fleet: Fleet<P>;
  /** Whether the engine is to run even without work. */
  always(): boolean;
  onChange(): void;
}

/** Who waits, and for how long it makes sense. */
export interface Ticket {
  /** Whether it stands for a request: the first file of each does, later files of the same request don't. */
  readonly counts: boolean;
  readonly deadline: number | undefined;
  readonly signal: AbortSignal;
  /** Aborts when it need not wait any more, since its request has failed otherwise. */
  readonly calledOff?: AbortSignal | undefined;
}

/** Brings together who waits and what is free: in order, victims first. */
export class Dispatcher<P extends Process> {
  readonly #options: DispatcherOptions<P>;
  readonly #line = new WaitingLine<Lease<P>>(() => this.dispatch());
  /** They wait apart, for the throw-away instance, and go ahead of new work. */
  readonly #victims = new WaitingLine<Lease<P>>(() => this.dispatch());
  #closed = false;

  constructor(options: DispatcherOptions<P>) {
    this.#options = options;
  }

  /** Requests that wait; one for which there is a slot doesn't, also while its instance is still starting. */
  get queueSize(): number {
    return this.#line.requestsBeyond(this.freeSlots);
  }

  /** Tasks that wait beyond those for which there are slots; less than 0: so many slots are left. */
  get backlog(): number {
    return this.#line.length - this.freeSlots;
  }

  get waitingVictims(): number {
    return this.#victims.length;
  }

  get freeSlots(): number {
    const { fleet } = this.#options;
    return Math.max(0, fleet.capacity - fleet.active - this.#reserved);
  }

  /**
   * Waits in line for a slot.
   * @throws Failure `ENGINE_UNAVAILABLE`; the reason of the signal that aborted
   */
  slot(ticket: Ticket): Promise<Lease<P>> {
    return this.#wait(this.#line, ticket);
  }

  /**
   * Waits for the throw-away instance.
   * @throws as {@link slot} does
   */
  slotApart(ticket: Omit<Ticket, 'counts'>): Promise<Lease<P>> {
    return this.#wait(this.#victims, { ...ticket, counts: false });
  }

  /** Gives free slots to those who wait, and sees to it that there are instances for them. */
  dispatch(): void {
    if (!this.#closed) this.#serve();
    this.#options.onChange();
  }

  /** Serves and starts nothing any more. */
  close(): void {
    this.#closed = true;
  }

  #serve(): void {
    const { fleet, always } = this.#options;
    this.#refuseLate(this.#victims, fleet.nextExtraStartAt);
    while (this.#victims.serveFirst(({ deadline }) => fleet.takeExtra(deadline)));
    this.#refuseLate(this.#line, fleet.nextStartAt);
    while (this.#line.serveFirst(({ deadline }) => fleet.take(deadline, this.#reserved)));
    fleet.want({ waiting: this.#line.length, victims: this.#victims.length > 0, always: always() });
  }

  async #wait(line: WaitingLine<Lease<P>>, { calledOff, ...wish }: Ticket): Promise<Lease<P>> {
    using patience = new LinkedSignal(wish.signal, calledOff);
    const granted = line.join({ ...wish, signal: patience.signal });
    this.dispatch();
    try {
      return await granted;
    } catch (error) {
      // That its time was up says little to a client whose time went by for want of an engine.
      throw Failure.is(error, 'TIME_LIMIT') && this.#options.fleet.down ? this.#unavailable() : error;
    }
  }

  /** Those whose deadline comes before the next attempt to start are told now. */
  #refuseLate(line: WaitingLine<Lease<P>>, nextStartAt: number | undefined): void {
    if (nextStartAt === undefined) return;
    const late = ({ deadline }: { deadline: number | undefined }) => deadline !== undefined && deadline <= nextStartAt;
    line.refuse(() => this.#unavailable(), late);
  }

  #unavailable(): Failure {
    const { name, fleet } = this.#options;
    return new Failure('ENGINE_UNAVAILABLE', { engine: name }, { cause: fleet.lastFailure });
  }

  /** A slot that new work leaves to a victim, which goes ahead of it. */
  get #reserved(): number {
    return this.#victims.length > 0 && this.#options.fleet.extraIsComing ? 1 : 0;
  }
}
