import type { Clock } from '../time/clock.ts';
import type { Instance } from './instance.ts';
import type { Member } from './member.ts';
import type { Process } from './types.ts';

/** How long a task without a deadline of its own may hold up the end of its instance, in ms. */
const DRAIN_MS = 10 * 60_000;
/** What an overdue task gets on top of its deadline: by then the supervisor has ended it, one way or another. */
const MARGIN_MS = 5000;

export interface DeparturesOptions<P extends Process> {
  readonly clock: Clock;
  /** Its time to drain is over. */
  onOverdue(instance: Instance<P>): void;
  onGone(member: Member<P>): void;
}

/** Members on their way out: each finishes its tasks, within a bound, and is then stopped. */
export class Departures<P extends Process> {
  readonly #options: DeparturesOptions<P>;
  /** With what cancels the bound. */
  readonly #draining = new Map<Member<P>, () => void>();
  readonly #leaving = new Map<Member<P>, Promise<void>>();

  constructor(options: DeparturesOptions<P>) {
    this.#options = options;
  }

  get size(): number {
    return this.#draining.size + this.#leaving.size;
  }

  *members(): Iterable<Member<P>> {
    yield* this.#draining.keys();
    yield* this.#leaving.keys();
  }

  /** Lets it finish what it has, then stops it. */
  drain(member: Member<P>): void {
    const { clock } = this.#options;
    member.departing = true;
    member.instance?.drain();
    const cancel = clock.after(longestTask(member, clock.now()), () => {
      if (member.instance) this.#options.onOverdue(member.instance);
    });
    this.#draining.set(member, cancel);
    this.look();
  }

  /** Stops those that have nothing left to do. */
  look(): void {
    for (const member of [...this.#draining.keys()]) {
      const busy = [...(member.instance?.leases ?? [])].some(lease => !lease.hung);
      if (!busy) void this.stop(member);
    }
  }

  /** Stops it now. Settles when nothing of it is left. */
  stop(member: Member<P>): Promise<void> {
    const known = this.#leaving.get(member);
    if (known) return known;
    this.#draining.get(member)?.();
    this.#draining.delete(member);
    member.departing = true;
    const left = member.stop().then(() => {
      this.#leaving.delete(member);
      this.#options.onGone(member);
    });
    this.#leaving.set(member, left);
    return left;
  }
}

/** ms until the last of its tasks must have ended. */
function longestTask<P extends Process>({ instance }: Member<P>, now: number): number {
  const left = [...(instance?.leases ?? [])].map(({ deadline }) => (deadline ?? now + DRAIN_MS) - now);
  return Math.max(0, ...left) + MARGIN_MS;
}
