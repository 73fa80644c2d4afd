import type { Instance } from './instance.ts';
import type { Member } from './member.ts';
import type { Process } from './types.ts';

export interface ThrowAwayOptions<P extends Process> {
  begin(): Member<P>;
  dismiss(member: Member<P>): void;
  /** Whether the one before has to be gone first. */
  mustWait(): boolean;
}

/**
 * The one instance beside all others in which victims run, each in a fresh one: should it die there, nobody else was to
 * blame.
 */
export class ThrowAway<P extends Process> {
  readonly #options: ThrowAwayOptions<P>;
  #member: Member<P> | undefined;
  #used = false;

  constructor(options: ThrowAwayOptions<P>) {
    this.#options = options;
  }

  get member(): Member<P> | undefined {
    return this.#member;
  }

  /** Whether one will soon be free for a victim. */
  get isComing(): boolean {
    return !this.#member?.failedStart && !this.#busy;
  }

  /** It, to be used by whoever asked, where it is ready for a victim. */
  take(): Instance<P> | undefined {
    const instance = this.#member?.instance;
    if (this.#used || !instance?.usable) return undefined;
    this.#used = true;
    return instance;
  }

  /** Has a fresh one started where victims wait, and a used or needless one ended. */
  want(victims: boolean): void {
    if (this.#member && !this.#busy && (this.#used || !victims)) this.#options.dismiss(this.#member);
    if (!victims || this.#member || this.#options.mustWait()) return;
    this.#used = false;
    this.#member = this.#options.begin();
  }

  /** It serves no more; what becomes of it is somebody else's business. */
  forget(): void {
    this.#member = undefined;
  }

  get #busy(): boolean {
    return (this.#member?.instance?.leases.size ?? 0) > 0;
  }
}
