import type { Logger } from 'pino';
import { Failure } from '../../src/failure/failure.ts';
import { Runner } from '../../src/supervise/runner.ts';
import { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import type { Attempt, Early, RunOptions, RunTrace, SupervisorSettings } from '../../src/supervise/types.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { type Behaviour, FakeProcess } from './fake-process.ts';

export const SETTINGS: SupervisorSettings = {
  instances: 1,
  maxConcurrency: 1,
  maxQueueSize: 0,
  restartAfter: 0,
  startTimeout: 20_000,
  idleShutdownTimeout: 0,
  maxMemory: 0,
  maxAge: 0,
  renewInPlace: false,
  poisonTtl: 600_000,
};

export interface LogLine {
  readonly level: string;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A supervisor with fake instances on a fake clock, and all that a test wants to see of it. */
export class Press {
  readonly clock = new FakeClock();
  readonly lines: LogLine[] = [];
  /** Every instance ever made, in order. */
  readonly processes: FakeProcess[] = [];
  readonly runner: Runner;
  readonly supervisor: ProcessSupervisor<FakeProcess>;
  /** How the next instances behave: one entry each, then the last for ever. */
  readonly behaviours: Partial<Behaviour>[];
  /** In what order tasks have begun, by name. */
  readonly begun: string[] = [];

  constructor(settings: Partial<SupervisorSettings> = {}, ...behaviours: Partial<Behaviour>[]) {
    this.behaviours = behaviours;
    const surroundings = { clock: this.clock, random: () => 0 };
    const log = loggerInto(this.lines);
    this.runner = new Runner({ surroundings, log });
    this.supervisor = new ProcessSupervisor<FakeProcess>({
      engine: 'fake',
      name: 'Fake',
      settings: { ...SETTINGS, ...settings },
      runner: this.runner,
      surroundings,
      log,
      create: id => {
        const behaviour = this.behaviours.length > 1 ? this.behaviours.shift() : this.behaviours[0];
        const process = new FakeProcess(id, this.clock, behaviour);
        this.processes.push(process);
        return process;
      },
    });
  }

  /** Those that live now, by id. */
  get alive(): string[] {
    return this.processes.filter(process => process.alive).map(({ id }) => id);
  }

  /** The latest instance of this id. */
  process(id: string): FakeProcess {
    const found = this.processes.findLast(process => process.id === id);
    if (!found) throw new Error(`there was no instance ${id}, only ${this.processes.map(p => p.id).join(', ')}`);
    return found;
  }

  /** Asks for one task. It goes on until the test finishes it; then its promise-like state can be looked at. */
  async submit(name = 'task', options: JobOptions = {}): Promise<Job> {
    const job = new Job(name, this, options);
    job.watch(this.supervisor.run((process, attempt) => job.work(process, attempt), job.options));
    await settle();
    return job;
  }

  /** Lets time pass. */
  pass(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  logged(text: string): LogLine[] {
    return this.lines.filter(line => line.text.includes(text));
  }
}

interface JobOptions {
  /** ms from now to its deadline. */
  readonly limit?: number;
  readonly fingerprint?: string;
  /** Ends when its signal aborts, as a well-behaved task does. */
  readonly obedient?: boolean;
}

/** A task of a test, and what has become of it. */
export class Job {
  readonly name: string;
  /** Each attempt, with the instance that it ran in. */
  readonly attempts: { readonly attempt: Attempt; readonly process: FakeProcess }[] = [];
  readonly options: RunOptions;
  trace: RunTrace | undefined;
  /** Times that it has settled: 1 in the end. */
  settled = 0;
  value: unknown;
  error: unknown;
  readonly #press: Press;
  readonly #obedient: boolean;
  readonly #signal = new AbortController();
  /** Whether it was given to an instance that was not ready for it. */
  begunBadly = false;
  #open = false;
  readonly #cancelLimit: (() => void) | undefined;
  #current = Promise.withResolvers<unknown>();

  constructor(name: string, press: Press, { limit, fingerprint, obedient = false }: JobOptions) {
    this.name = name;
    this.#press = press;
    this.#obedient = obedient;
    if (limit !== undefined) {
      this.#cancelLimit = press.clock.after(limit, () => this.#signal.abort(new Failure('TIME_LIMIT')));
    }
    this.options = {
      signal: this.#signal.signal,
      ...(limit !== undefined && { deadline: press.clock.now() + limit }),
      ...(fingerprint !== undefined && { fingerprint: async () => fingerprint }),
      trace: trace => {
        this.trace = trace;
      },
    };
  }

  work(process: FakeProcess, attempt: Attempt): Promise<unknown> {
    this.attempts.push({ attempt, process });
    this.#press.begun.push(this.name);
    this.begunBadly ||= !process.healthy;
    this.#current = Promise.withResolvers();
    this.#open = true;
    const over = () => {
      this.#open = false;
    };
    this.#current.promise.then(over, over);
    const { reject } = this.#current;
    if (this.#obedient) attempt.signal.addEventListener('abort', () => reject(attempt.signal.reason), { once: true });
    return this.#current.promise;
  }

  watch(run: Promise<unknown>): void {
    run
      .then(
        value => {
          this.value = value;
        },
        error => {
          this.error = error;
        },
      )
      .finally(() => {
        this.settled += 1;
        this.#cancelLimit?.();
      });
  }

  /** `waiting`, `running`, `done`, or the code or message of what went wrong. */
  get state(): string {
    if (this.settled === 0) return this.attempts.length > 0 ? 'running' : 'waiting';
    if (this.error === undefined) return 'done';
    return Failure.is(this.error) ? this.error.code : String((this.error as Error).message);
  }

  get instance(): string | undefined {
    return this.process?.id;
  }

  get process(): FakeProcess | undefined {
    return this.attempts.at(-1)?.process;
  }

  /** Whether its work really goes on: begun, in an instance that lives, and neither finished nor ended by it. */
  get working(): boolean {
    const last = this.attempts.at(-1);
    if (!last || !this.#open || !last.process.alive) return false;
    return !(last.process.behaviour.abandon === 'ends it' && last.process.abandoned.includes(last.attempt));
  }

  async finish(value: unknown = 'result'): Promise<void> {
    this.#current.resolve(value);
    await settle();
  }

  /** Hands over its result while its slot is still being cleaned. */
  async finishEarly(clean: Promise<void>): Promise<void> {
    await this.finish({ result: 'result', clean } satisfies Early<string>);
  }

  async fail(error: Error): Promise<void> {
    this.#current.reject(error);
    await settle();
  }

  async leave(): Promise<void> {
    this.#signal.abort(new Failure('CLIENT_GONE'));
    await settle();
  }
}

export function loggerInto(lines: LogLine[]): Logger {
  const at = (level: string) => (fields: Record<string, unknown>, text: string) => lines.push({ level, fields, text });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger;
}
