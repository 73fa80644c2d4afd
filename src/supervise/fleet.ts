import { Departures } from './departures.ts';
import type { Instance, Lease } from './instance.ts';
import { Member, type MemberOptions } from './member.ts';
import { renewalDue } from './renewal.ts';
import { ThrowAway } from './throw-away.ts';
import type { Process } from './types.ts';
import { Watchdog } from './watchdog.ts';

export interface FleetOptions<P extends Process> extends MemberOptions<P> {
  /** An instance has become ready, has a slot again, could not start, or has gone. */
  onChange(): void;
}

/** For how much there must be instances. */
export interface Demand {
  /** Tasks that wait for a slot. */
  readonly waiting: number;
  /** Whether somebody waits for the throw-away instance. */
  readonly victims: boolean;
  /** Whether the engine is to run even without work. */
  readonly always: boolean;
}

/** How long a failed start that nobody needs any more speaks against the engine, in ms; then it is as if not started. */
const GRUDGE_MS = 30_000;

/** The instances of one engine: which exist, which is renewed, which may be used. Knows nothing of who waits. */
export class Fleet<P extends Process> {
  readonly #options: FleetOptions<P>;
  /** By place: the member that serves there. */
  readonly #members = new Map<number, Member<P>>();
  /** In renewal: started beside the one that it will replace. */
  #successor: Member<P> | undefined;
  readonly #throwAway: ThrowAway<P>;
  readonly #departures: Departures<P>;
  /** Places whose old instance has to be gone before the new one starts, with why. */
  readonly #vacated = new Map<number, string>();
  readonly #leases = new Set<Lease<P>>();
  readonly #generations = new Map<number | 'extra', number>();
  readonly #watchdog: Watchdog<P>;
  #failure: { readonly error: Error; readonly at: number } | undefined;

  constructor(options: FleetOptions<P>) {
    const { clock } = options.surroundings;
    this.#options = options;
    this.#departures = new Departures({
      clock,
      onOverdue: instance => void this.kill(instance, 'drain'),
      onGone: member => this.#onGone(member),
    });
    this.#throwAway = new ThrowAway({
      begin: () => this.#begin('extra', 'victim'),
      dismiss: member => this.#dismiss(member),
      mustWait: () => this.#mustWait('extra'),
    });
    this.#watchdog = new Watchdog({
      clock,
      instances: () => this.instances(),
      onAiling: (instance, how) => void this.kill(instance, how === 'broken' ? 'broken' : 'frozen'),
      onLook: () => this.#renewDue(),
    });
  }

  /** Slots that this engine has in all, whether their instances run yet or not. */
  get capacity(): number {
    return this.#options.settings.instances * this.#options.settings.maxConcurrency;
  }

  /** Slots in use, in instances on their way out and the throw-away one too. */
  get active(): number {
    return this.#leases.size;
  }

  /** Whether a throw-away instance will soon be free for a victim. */
  get extraIsComing(): boolean {
    return this.#throwAway.isComing;
  }

  get anyUsable(): boolean {
    return [...this.#members.values()].some(({ instance }) => instance?.usable);
  }

  /** Whether there is anything at all: an instance, or one about to start or not yet quite gone. */
  get exists(): boolean {
    return !this.#all().next().done;
  }

  /** Why the engine is down: no instance is usable and the last start failed. Undefined: it isn't. */
  get down(): Error | undefined {
    if (!this.#failure || this.anyUsable) return undefined;
    const recent = this.#options.surroundings.clock.now() - this.#failure.at < GRUDGE_MS;
    return this.#members.size > 0 || recent ? this.#failure.error : undefined;
  }

  get lastFailure(): Error | undefined {
    return this.#failure?.error;
  }

  /** When the next start comes, where there is nothing else to hope for; on the clock, in ms. */
  get nextStartAt(): number | undefined {
    const failed = [...this.#members.values()].map(member => member.failedStart?.retryAt);
    return failed.length === 0 || failed.includes(undefined) ? undefined : Math.min(...failed.map(Number));
  }

  /** The same for the throw-away instance. */
  get nextExtraStartAt(): number | undefined {
    return this.#throwAway.member?.failedStart?.retryAt;
  }

  *instances(): Iterable<Instance<P>> {
    for (const { instance } of this.#all()) if (instance) yield instance;
  }

  /** Takes a slot in the least busy instance, leaving so many for others; undefined where none is free. */
  take(deadline: number | undefined, reserved: number): Lease<P> | undefined {
    if (this.active + reserved >= this.capacity) return undefined;
    const { maxConcurrency } = this.#options.settings;
    const usable = [...this.#members.values()]
      .map(({ instance }) => instance)
      .filter(instance => instance?.usable && instance.leases.size < maxConcurrency);
    const [best] = usable.toSorted((a, b) => (a?.leases.size ?? 0) - (b?.leases.size ?? 0));
    return best && this.#lease(best, deadline);
  }

  /** Takes the throw-away instance, if it is ready for a victim. */
  takeExtra(deadline: number | undefined): Lease<P> | undefined {
    const instance = this.active < this.capacity ? this.#throwAway.take() : undefined;
    return instance && this.#lease(instance, deadline);
  }

  /** Gives a slot back. */
  release(lease: Lease<P>): void {
    this.#leases.delete(lease);
    lease.instance.leases.delete(lease);
    this.#departures.look();
    this.#renewDue();
    this.#options.onChange();
  }

  /** What holds this slot won't end by itself: its instance goes as soon as all others in it have ended. */
  giveUpOn(lease: Lease<P>): void {
    lease.hung = true;
    this.#departures.look();
  }

  /** Starts what so much work needs, and stops trying to start what nobody needs. */
  want({ waiting, victims, always }: Demand): void {
    const { instances, maxConcurrency } = this.#options.settings;
    let inUse = 0;
    for (const { instance } of this.#members.values()) inUse += instance?.leases.size ?? 0;
    // The first one alone at first: an engine that starts several at once is ready later.
    const least = always ? (this.anyUsable ? instances : 1) : 0;
    const wanted = Math.max(least, Math.min(instances, Math.ceil((waiting + inUse) / maxConcurrency)));
    for (let place = 1; place <= instances && this.#members.size < wanted; place += 1) {
      if (!this.#members.has(place) && !this.#mustWait(place)) this.#fill(place, always ? 'launch' : 'demand');
    }
    if (waiting === 0 && !always) {
      for (const member of this.#members.values()) if (member.failedStart) this.#dismiss(member);
    }
    this.#throwAway.want(victims);
  }

  /** Takes an instance out of service and puts another in its place. */
  retire(instance: Instance<P>, reason: string, detail?: string): void {
    const member = [...this.#all()].find(candidate => candidate.instance === instance);
    if (!member || member.departing) return;
    const { log, engine } = this.#options;
    log.info({ engine, instance: instance.id, reason, detail }, 'instance is replaced');
    if (member.place !== 'extra') this.#options.journal.restarts.add(reason);
    this.#forget(member);
    if (typeof member.place === 'number') {
      if (this.#options.settings.renewInPlace) this.#vacated.set(member.place, reason);
      else if (!this.#members.has(member.place)) this.#fill(member.place, reason);
    }
    this.#departures.drain(member);
    this.#options.onChange();
  }

  /** Ends an instance at once; the Runner brings it back. Settles when nothing of it is left. */
  kill(instance: Instance<P>, reason: string): Promise<void> {
    if (instance.endedFor === undefined && !instance.death.aborted) {
      this.#options.journal.kills.add(reason);
      this.#options.log.warn({ engine: this.#options.engine, instance: instance.id, reason }, 'instance is killed');
    }
    return instance.end(reason);
  }

  /** Ends everything there is now. Settles when nothing of it is left; the next demand starts new generations. */
  async stopAll(): Promise<void> {
    this.#vacated.clear();
    const stopped = [...this.#all()].map(member => {
      this.#forget(member, false);
      return this.#departures.stop(member);
    });
    await Promise.all(stopped);
  }

  *#all(): Generator<Member<P>, undefined> {
    yield* this.#members.values();
    if (this.#successor) yield this.#successor;
    if (this.#throwAway.member) yield this.#throwAway.member;
    yield* this.#departures.members();
    return undefined;
  }

  #lease(instance: Instance<P>, deadline: number | undefined): Lease<P> {
    const lease = { instance, deadline, since: this.#options.surroundings.clock.now(), hung: false };
    instance.leases.add(lease);
    this.#leases.add(lease);
    return lease;
  }

  /** Where memory for two is short, a place's old instance has to be gone before the new one starts. */
  #mustWait(place: Member<P>['place']): boolean {
    const occupied = [...this.#departures.members()].some(member => member.place === place);
    return this.#options.settings.renewInPlace && occupied;
  }

  #fill(place: number, reason: string): void {
    this.#vacated.delete(place);
    this.#members.set(place, this.#begin(place, reason));
  }

  #begin(place: number | 'extra', reason: string): Member<P> {
    const generation = (this.#generations.get(place) ?? 0) + 1;
    this.#generations.set(place, generation);
    const member = new Member<P>({ place, generation, reason }, this.#options, {
      onReady: ready => this.#onReady(ready),
      onStartFailed: (failed, error) => this.#onStartFailed(failed, error),
      onDeath: (dead, why) => this.#onDeath(dead, why),
    });
    member.begin();
    return member;
  }

  /** It serves no more. Its successor, if one is on its way, takes its place at once. */
  #forget(member: Member<P>, promote = true): void {
    if (member === this.#successor) this.#successor = undefined;
    if (member === this.#throwAway.member) this.#throwAway.forget();
    if (typeof member.place !== 'number' || this.#members.get(member.place) !== member) return;
    this.#members.delete(member.place);
    if (!promote || this.#successor?.place !== member.place) return;
    this.#members.set(member.place, this.#successor);
    this.#successor = undefined;
  }

  #dismiss(member: Member<P>): void {
    this.#forget(member);
    void this.#departures.stop(member);
  }

  #onReady(member: Member<P>): void {
    if (member.place !== 'extra') this.#failure = undefined;
    this.#watchdog.wake();
    if (member === this.#successor && typeof member.place === 'number') {
      const old = this.#members.get(member.place);
      if (old) {
        this.#forget(old);
        this.#departures.drain(old);
      }
    }
    this.#options.onChange();
  }

  #onStartFailed(member: Member<P>, error: Error): void {
    if (member.place !== 'extra') this.#failure = { error, at: this.#options.surroundings.clock.now() };
    this.#options.onChange();
  }

  #onDeath(member: Member<P>, reason: string): void {
    const replaced = this.#successor !== undefined && this.#successor.place === member.place;
    const over = member.departing || this.#options.runner.ending.aborted;
    if (member.place !== 'extra' && !over) this.#options.journal.restarts.add(reason);
    if (over || replaced) this.#dismiss(member);
    this.#options.onChange();
  }

  #onGone(member: Member<P>): void {
    const { place } = member;
    const reason = typeof place === 'number' ? this.#vacated.get(place) : undefined;
    if (typeof place === 'number' && reason !== undefined && !this.#mustWait(place)) this.#fill(place, reason);
    if (!this.exists) this.#watchdog.rest();
    this.#renewDue();
    this.#options.onChange();
  }

  /** Begins one renewal, if one is due and none goes on. */
  #renewDue(): void {
    if (this.#successor || this.#departures.size > 0) return;
    const { settings, log, engine, journal } = this.#options;
    for (const { instance, place } of this.#members.values()) {
      if (!instance?.usable || typeof place !== 'number') continue;
      const { served, sinceMs, residentBytes } = instance;
      const reason = renewalDue(settings, { served, residentBytes, ageMs: sinceMs });
      if (!reason) continue;
      if (settings.renewInPlace) this.retire(instance, reason);
      else {
        log.info({ engine, instance: instance.id, reason }, 'renewal begins');
        journal.restarts.add(reason);
        this.#successor = this.#begin(place, reason);
      }
      return;
    }
  }
}
