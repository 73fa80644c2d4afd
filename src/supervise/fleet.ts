import type { Logger } from 'pino';
import { Instance } from './instance.ts';
import { type RenewalReason, renewalDue } from './renewal.ts';
import type { Runner } from './runner.ts';
import type { Process, SupervisorSettings, Surroundings, Worker } from './types.ts';
import { Watchdog } from './watchdog.ts';

export interface FleetOptions<P extends Process> {
  readonly engine: string;
  readonly settings: SupervisorSettings;
  readonly runner: Runner;
  readonly surroundings: Surroundings;
  readonly log: Logger;
  create(id: string): P;
  /** An instance has become ready, has gained a free slot, or has gone. */
  onChange(): void;
  /** A start failed; the next attempt comes in so many ms. True: nobody needs it any more. */
  onStartFailed(error: Error, retryInMs: number): boolean;
}

/** A place for an instance. Its Runner id carries a generation, so a successor lives beside the one that it replaces. */
interface Member<P extends Process> {
  readonly id: string;
  readonly slot: number;
  /** The current incarnation; undefined while the Runner waits to start the next. */
  instance: Instance<P> | undefined;
  /** Takes no more tasks, and is stopped when it has none left. */
  retiring: boolean;
  /** Why the next start happens, for the log. */
  startReason: string;
}

/** How long a retiring instance may go on with tasks that have no deadline of their own, in ms. */
const DRAIN_MS = 10 * 60_000;

/** The instances of one engine: which exist, which is renewed, which may be used. Knows nothing of who waits. */
export class Fleet<P extends Process> {
  readonly #options: FleetOptions<P>;
  /** By slot: the member that serves. */
  readonly #members = new Map<number, Member<P>>();
  /** Those that were replaced and still drain. */
  readonly #retiring = new Map<Member<P>, () => void>();
  /** Those that have drained and are being stopped. */
  readonly #leaving = new Set<Member<P>>();
  /** Throw-away instances for victims. */
  readonly #extras = new Set<Instance<P>>();
  readonly #generations = new Map<number, number>();
  readonly #watchdog: Watchdog<P>;
  readonly restartsByReason: Record<string, number> = {};
  readonly killsByReason: Record<string, number> = {};
  #successor: Member<P> | undefined;
  #extraCount = 0;
  lastStartError: Error | undefined;

  constructor(options: FleetOptions<P>) {
    this.#options = options;
    this.#watchdog = new Watchdog({
      clock: options.surroundings.clock,
      instances: () => this.instances(),
      onFrozen: (instance, how) => void this.kill(instance, `frozen (${how})`),
      onLook: () => this.#renewDue(),
    });
  }

  /** Slots that this engine has in all, whether their instances run yet or not. */
  get capacity(): number {
    return this.#options.settings.instances * this.#options.settings.maxConcurrency;
  }

  /** Slots in use, in retiring instances too; throw-away instances don't count. */
  get active(): number {
    let sum = 0;
    for (const { instance } of this.#all()) sum += instance?.active ?? 0;
    return sum;
  }

  get anyUsable(): boolean {
    return [...this.#members.values()].some(member => member.instance?.usable);
  }

  *instances(): Iterable<Instance<P>> {
    for (const member of this.#all()) if (member.instance) yield member.instance;
    yield* this.#extras;
  }

  /** Takes a slot in the least busy instance; undefined where none is free. */
  take(): Instance<P> | undefined {
    if (this.active >= this.capacity) return undefined;
    let best: Instance<P> | undefined;
    for (const { instance } of this.#members.values()) {
      if (!instance?.usable || instance.active >= this.#options.settings.maxConcurrency) continue;
      if (!best || instance.active < best.active) best = instance;
    }
    if (best) best.active += 1;
    return best;
  }

  /** Gives a slot back. */
  release(instance: Instance<P>): void {
    instance.active -= 1;
    this.#stopDrained();
    this.#renewDue();
    this.#options.onChange();
  }

  /** Starts as many instances as so much work can use, up to the engine's number. */
  ensure(demand: number): void {
    const wanted = Math.min(
      this.#options.settings.instances,
      Math.ceil(demand / this.#options.settings.maxConcurrency),
    );
    for (let slot = 1; slot <= this.#options.settings.instances && this.#members.size < wanted; slot += 1) {
      if (this.#members.has(slot) || this.#mustGoFirst(slot)) continue;
      this.#members.set(slot, this.#startMember(slot, 'demand'));
    }
  }

  /** Takes an instance out of service for good and puts another in its place. */
  retire(instance: Instance<P>, reason: string): void {
    const member = [...this.#members.values()].find(candidate => candidate.instance === instance);
    if (!member || member.retiring) return;
    this.#count(this.restartsByReason, reason);
    this.#options.log.info({ engine: this.#options.engine, instance: instance.id, reason }, 'instance is replaced');
    this.#members.delete(member.slot);
    if (!this.#options.settings.renewInPlace) this.#members.set(member.slot, this.#startMember(member.slot, reason));
    this.#drain(member);
  }

  /** Ends an instance at once; the Runner brings it back. */
  async kill(instance: Instance<P>, reason: string): Promise<void> {
    if (instance.endedFor !== undefined) return instance.end(reason);
    this.#count(this.killsByReason, reason);
    this.#options.log.warn({ engine: this.#options.engine, instance: instance.id, reason }, 'instance is killed');
    await instance.end(reason);
  }

  /**
   * A throw-away instance, started.
   * @throws the start's error
   */
  async extra(signal: AbortSignal): Promise<Instance<P>> {
    this.#extraCount += 1;
    const id = `${this.#options.engine}-extra.${this.#extraCount}`;
    const instance = new Instance(id, this.#options.create(id));
    this.#extras.add(instance);
    try {
      await this.#start(instance, signal, 'victim');
      return instance;
    } catch (error) {
      this.#extras.delete(instance);
      throw error;
    }
  }

  async dropExtra(instance: Instance<P>): Promise<void> {
    await instance.end('done');
    this.#extras.delete(instance);
  }

  /** Ends everything. Settles when nothing is left; the next demand starts new generations. */
  async stopAll(): Promise<void> {
    const members = [...this.#all()];
    this.#members.clear();
    this.#successor = undefined;
    for (const member of members) member.retiring = true;
    for (const cancel of this.#retiring.values()) cancel();
    this.#retiring.clear();
    await Promise.all([
      ...members.map(member => this.#options.runner.stopWorker(member.id).catch(() => {})),
      ...[...this.#extras].map(extra => this.dropExtra(extra)),
    ]);
    if ([...this.#all()].length === 0) this.#watchdog.rest();
  }

  /** Where memory for two is short, a slot's old instance has to be gone before the new one starts. */
  #mustGoFirst(slot: number): boolean {
    return (
      this.#options.settings.renewInPlace &&
      [...this.#retiring.keys(), ...this.#leaving].some(member => member.slot === slot)
    );
  }

  *#all(): Iterable<Member<P>> {
    yield* this.#members.values();
    if (this.#successor) yield this.#successor;
    yield* this.#retiring.keys();
    yield* this.#leaving;
  }

  #startMember(slot: number, reason: string): Member<P> {
    const generation = (this.#generations.get(slot) ?? 0) + 1;
    this.#generations.set(slot, generation);
    const id = `${this.#options.engine}-${slot}.${generation}`;
    const member: Member<P> = { id, slot, instance: undefined, retiring: false, startReason: reason };
    this.#options.runner.startWorker(
      id,
      signal => this.#startInstance(member, signal),
      (ms, error) => this.#onDelay(member, ms, error),
    );
    return member;
  }

  async #startInstance(member: Member<P>, signal: AbortSignal): Promise<Worker> {
    const instance = new Instance(member.id, this.#options.create(member.id));
    member.instance = instance;
    try {
      await this.#start(instance, signal, member.startReason);
    } catch (error) {
      member.instance = undefined;
      if (!signal.aborted) this.lastStartError = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
    member.startReason = 'crash';
    this.lastStartError = undefined;
    if (member === this.#successor) this.#takeOver(member);
    // Not within the start: the Runner must know the worker before anybody can end it.
    queueMicrotask(() => this.#options.onChange());
    return this.#asWorker(member, instance);
  }

  async #start(instance: Instance<P>, signal: AbortSignal, reason: string): Promise<void> {
    const { settings, surroundings, log, engine } = this.#options;
    const limit = new AbortController();
    const began = surroundings.clock.now();
    const cancel = surroundings.clock.after(settings.startTimeout, () =>
      limit.abort(
        new Error(`not ready within ${settings.startTimeout} ms; raise the start timeout if that is too short`),
      ),
    );
    const either = AbortSignal.any([signal, limit.signal]);
    try {
      await Promise.race([instance.process.start(either), rejection(either)]);
      instance.state = 'ready';
      instance.readyAt = surroundings.clock.now();
      const ms = Math.round(instance.readyAt - began);
      log.info({ engine, instance: instance.id, reason, ms }, 'instance is ready');
      this.#watchdog.wake();
    } catch (error) {
      await instance.end('start failed');
      throw error;
    } finally {
      cancel();
    }
  }

  #asWorker(member: Member<P>, instance: Instance<P>): Worker {
    return {
      kill: () => void instance.end('stopped'),
      get served() {
        return instance.served > 0 || instance.endedFor !== undefined;
      },
      wait: async () => {
        const error = await instance.process.ended;
        if (instance.endedFor === undefined && !member.retiring) this.#count(this.killsByReason, 'crash');
        if (!member.retiring) this.#count(this.restartsByReason, instance.endedFor ?? 'crash');
        member.startReason = instance.endedFor ?? 'crash';
        // It may have died by itself: its group, folder and sockets still have to go before a new one comes.
        await instance.process.stop();
        member.instance = undefined;
        this.#options.onChange();
        if (error) throw error;
      },
    };
  }

  #onDelay(member: Member<P>, ms: number, error: Error): void {
    if (ms === 0 || member.instance || member.retiring) return;
    if (!this.#options.onStartFailed(error, ms)) return;
    if (this.#members.get(member.slot) === member) this.#members.delete(member.slot);
    if (this.#successor === member) this.#successor = undefined;
    void this.#options.runner.stopWorker(member.id).catch(() => {});
  }

  /** Begins one renewal, if one is due and none goes on. */
  #renewDue(): void {
    const { settings, surroundings, log, engine } = this.#options;
    if (this.#successor || this.#retiring.size > 0 || this.#leaving.size > 0) return;
    for (const member of this.#members.values()) {
      const { instance } = member;
      if (!instance?.usable) continue;
      const ageMs = surroundings.clock.now() - instance.readyAt;
      const reason: RenewalReason | undefined = renewalDue(settings, { ...pick(instance), ageMs });
      if (!reason) continue;
      if (settings.renewInPlace) return this.retire(instance, reason);
      log.info({ engine, instance: instance.id, reason }, 'renewal begins');
      this.#count(this.restartsByReason, reason);
      this.#successor = this.#startMember(member.slot, reason);
      return;
    }
  }

  #takeOver(successor: Member<P>): void {
    this.#successor = undefined;
    const old = this.#members.get(successor.slot);
    this.#members.set(successor.slot, successor);
    if (old) this.#drain(old);
  }

  #drain(member: Member<P>): void {
    member.retiring = true;
    if (member.instance?.state === 'ready') member.instance.state = 'draining';
    const cancel = this.#options.surroundings.clock.after(DRAIN_MS, () => {
      if (member.instance) void this.kill(member.instance, 'drain');
    });
    this.#retiring.set(member, cancel);
    this.#stopDrained();
  }

  #stopDrained(): void {
    for (const [member, cancel] of this.#retiring) {
      if ((member.instance?.active ?? 0) > 0) continue;
      cancel();
      this.#retiring.delete(member);
      this.#leaving.add(member);
      void this.#options.runner
        .stopWorker(member.id)
        .catch(() => {})
        .then(() => {
          this.#leaving.delete(member);
          this.#options.onChange();
        });
    }
  }

  #count(into: Record<string, number>, reason: string): void {
    into[reason] = (into[reason] ?? 0) + 1;
  }
}

const pick = <P extends Process>({ served, residentBytes }: Instance<P>) => ({ served, residentBytes });

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
