import { expect } from 'vitest';
import { EngineCrash, type SupervisorSettings } from '../../src/supervise/types.ts';
import { settle } from '../helpers/fake-clock.ts';
import type { Behaviour } from '../helpers/fake-process.ts';
import { type Job, Press } from '../helpers/press.ts';
import { within } from '../helpers/within.ts';

/** How long after its deadline a task may at most go on: grace, abandoning, and the slowest stop of these tests. */
export const OVERDUE_MS = 500 + 1000 + 300;

interface Submitted {
  readonly job: Job;
  readonly number: number;
  readonly deadline: number;
  readonly fingerprint: string | undefined;
}

/** A press to which anything may happen, with the promises that hold after each step. */
export class World {
  readonly press: Press;
  readonly settings: SupervisorSettings;
  readonly submitted: Submitted[] = [];
  readonly #cleanings: PromiseWithResolvers<void>[] = [];
  /** Requests of many files: their files share one run. */
  readonly #batches: { settled: number; files: { readonly end: PromiseWithResolvers<unknown> }[] }[] = [];
  readonly #shutdowns: Promise<void>[] = [];
  readonly #bound = new AbortController();
  #closing = false;

  constructor(settings: SupervisorSettings) {
    this.settings = settings;
    this.press = new Press(settings, {});
  }

  get jobs(): Job[] {
    return this.submitted.map(({ job }) => job);
  }

  get running(): Job[] {
    return this.jobs.filter(job => job.working);
  }

  async request(limit: number | undefined, fingerprint: string | undefined, obedient: boolean): Promise<void> {
    const { supervisor, clock } = this.press;
    const { maxQueueSize } = this.settings;
    const full = maxQueueSize > 0 && supervisor.queueSize >= maxQueueSize;
    const job = await this.press.submit(`${this.submitted.length}`, {
      ...(limit !== undefined && { limit }),
      ...(fingerprint !== undefined && { fingerprint }),
      obedient,
    });
    const deadline = limit === undefined ? Number.POSITIVE_INFINITY : clock.now() + limit;
    this.submitted.push({ job, number: this.submitted.length, deadline, fingerprint });
    expect(job.state === 'QUEUE_FULL', 'refused when the queue is full, and only then').toBe(full && !this.#closing);
  }

  /** A request of so many files, each of which the steps below finish as they do single ones. */
  async batch(count: number): Promise<void> {
    const batch = { settled: 0, files: [] as { readonly end: PromiseWithResolvers<unknown> }[] };
    this.#batches.push(batch);
    this.press.supervisor
      .runAll(
        Array.from({ length: count }, (_, at) => at),
        async () => {
          const end = Promise.withResolvers<unknown>();
          batch.files.push({ end });
          expect(batch.files.length).toBeLessThanOrEqual(2 * count);
          return end.promise;
        },
        { signal: new AbortController().signal },
      )
      .catch(() => {})
      .finally(() => {
        batch.settled += 1;
      });
    await settle();
  }

  async finishFile(nth: number): Promise<void> {
    const open = this.#batches.filter(({ settled }) => settled === 0).flatMap(({ files }) => files);
    pick(open, nth)?.end.resolve('done');
    await settle();
  }

  async finishEarly(nth: number): Promise<void> {
    const job = pick(this.running, nth);
    if (!job) return;
    const cleaning = Promise.withResolvers<void>();
    cleaning.promise.catch(() => {});
    this.#cleanings.push(cleaning);
    await job.finishEarly(cleaning.promise);
  }

  async cleaned(nth: number, well: boolean): Promise<void> {
    const cleaning = pick(this.#cleanings, nth);
    if (well) cleaning?.resolve();
    else cleaning?.reject(new Error('not clean'));
    await settle();
  }

  async lose(nth: number): Promise<void> {
    await pick(this.running, nth)?.fail(new EngineCrash('the renderer died'));
  }

  async crash(nth: number): Promise<void> {
    this.#pickAlive(nth)?.crash();
    await settle();
  }

  async freeze(nth: number, how: 'stopped' | 'silent' | 'broken'): Promise<void> {
    const process = this.#pickAlive(nth);
    if (how === 'stopped' && process) process.stoppedByKernel = true;
    if (how === 'silent' && process) process.behaviour.answers = false;
    if (how === 'broken' && process) process.broken = true;
  }

  grow(nth: number): void {
    const process = this.#pickAlive(nth);
    if (process) process.residentBytes = 1e12;
  }

  async retire(nth: number): Promise<void> {
    pick(this.running, nth)?.attempts.at(-1)?.attempt.retireInstance('a trace was left');
    await settle();
  }

  behave(behaviour: Partial<Behaviour>): void {
    this.press.behaviours.splice(0, Number.POSITIVE_INFINITY, behaviour);
  }

  async launch(): Promise<void> {
    this.#shutdowns.push(this.press.supervisor.launch());
    await settle();
  }

  async shutdown(): Promise<void> {
    this.#closing = true;
    this.#shutdowns.push(this.press.supervisor.shutdown(this.#bound.signal));
    await settle();
  }

  /** What holds after every step, whatever it was. */
  check(): void {
    const { supervisor, processes, clock } = this.press;
    const { instances, maxConcurrency } = this.settings;
    expect(supervisor.activeTasks, 'tasks at once').toBeLessThanOrEqual(instances * maxConcurrency);
    expect(this.running.length, 'tasks really at once').toBeLessThanOrEqual(instances * maxConcurrency);
    for (const process of processes) {
      const tasks = this.running.filter(job => job.process === process).length;
      expect(tasks, `tasks in ${process.id}`).toBeLessThanOrEqual(process.id.includes('extra') ? 1 : maxConcurrency);
    }
    this.#checkQueue();
    this.#checkOrder();
    this.#checkProcesses();
    for (const { job, deadline } of this.submitted) {
      expect(job.settled, 'times that a request was answered').toBeLessThanOrEqual(1);
      expect(job.begunBadly, 'begun in an instance that was not ready').toBe(false);
      if (clock.now() > deadline + OVERDUE_MS) expect(job.settled, `${job.name} is overdue`).toBe(1);
      if (job.settled === 1) this.#checkOutcome(job);
    }
  }

  /** Lets all end, in one of the two ways, and sees that nothing is left. */
  async finish(): Promise<void> {
    const { press } = this;
    this.behave({});
    for (let round = 0; round < 100 && !this.#allSettled(); round += 1) {
      for (const cleaning of this.#cleanings) cleaning.resolve();
      for (const job of this.running) await job.finish();
      for (const { files } of this.#batches) for (const { end } of files) end.resolve('done');
      await press.pass(2000);
      this.check();
    }
    expect(this.jobs.filter(({ settled }) => settled !== 1).map(({ name }) => name)).toEqual([]);
    expect(this.#batches.map(({ settled }) => settled)).toEqual(this.#batches.map(() => 1));
    for (const cleaning of this.#cleanings) cleaning.resolve();
    await press.pass(20_000);
    expect([press.supervisor.queueSize, press.supervisor.activeTasks]).toEqual([0, 0]);
    expect(press.supervisor.status().waitingVictims).toBe(0);
    if (this.settings.idleShutdownTimeout === 0) await this.shutdown();
    this.#bound.abort();
    await press.pass(this.settings.idleShutdownTimeout + 20_000);
    await within(1000, 'launches and shutdowns', Promise.all(this.#shutdowns));
    expect(press.alive).toEqual([]);
    expect(press.clock.waiting, 'timers that are left').toBe(0);
    expect(press.runner.report().workers).toEqual([]);
  }

  /** First attempts begin in the order in which the requests came. */
  #checkOrder(): void {
    const first = new Set(this.submitted.filter(({ fingerprint }) => fingerprint === undefined).map(s => s.job.name));
    const begun = this.press.begun.filter(name => first.delete(name)).map(Number);
    expect(begun, 'first come, first served').toEqual(begun.toSorted((a, b) => a - b));
  }

  #checkProcesses(): void {
    const { instances, renewInPlace } = this.settings;
    const places = this.press.alive.map(id => id.replace(/\.\d+$/, ''));
    const pool = places.filter(place => !place.endsWith('extra'));
    expect(new Set(pool).size, 'places that are taken').toBeLessThanOrEqual(instances);
    expect(new Set(this.press.alive).size, 'no two instances of one id').toBe(this.press.alive.length);
    if (renewInPlace) expect(new Set(pool).size, 'instances of one place').toBe(pool.length);
  }

  #checkOutcome(job: Job): void {
    const { state, attempts } = job;
    const expected =
      /^(done|TIME_LIMIT|CLIENT_GONE|QUEUE_FULL|OVERLOADED|ENGINE_UNAVAILABLE|CRASHED_TWICE|SHUTTING_DOWN|its own fault)$/;
    expect(state).toMatch(expected);
    expect(attempts.length).toBeLessThanOrEqual(2);
    if (state === 'SHUTTING_DOWN') expect(this.#closing).toBe(true);
    if (state === 'QUEUE_FULL' || state === 'OVERLOADED') expect(attempts).toHaveLength(0);
    if (state === 'CRASHED_TWICE') expect(attempts.at(-1)?.process.id).toContain('extra');
    if (attempts.length === 2) expect(attempts[1]?.process.id).toContain('extra');
  }

  /** The size of the queue, reckoned without looking into the supervisor; where other things don't come in. */
  #checkQueue(): void {
    const { supervisor } = this.press;
    if (this.#batches.length > 0 || supervisor.status().waitingVictims > 0) return;
    const waiting = this.jobs.filter(({ settled, attempts }) => settled === 0 && attempts.length === 0).length;
    const slots = this.settings.instances * this.settings.maxConcurrency - supervisor.activeTasks;
    expect(supervisor.queueSize, 'requests that wait').toBe(Math.max(0, waiting - slots));
  }

  #allSettled(): boolean {
    return [...this.jobs, ...this.#batches].every(({ settled }) => settled > 0);
  }

  #pickAlive(nth: number) {
    return pick(
      this.press.processes.filter(({ alive }) => alive),
      nth,
    );
  }
}

export function pick<T>(from: readonly T[], nth: number): T | undefined {
  return from[nth % Math.max(1, from.length)];
}
