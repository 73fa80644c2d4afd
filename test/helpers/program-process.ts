import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Child, startChild } from '../../src/process/child.ts';
import { LineClient } from '../../src/process/line-client.ts';
import { groupUsage } from '../../src/process/process-group.ts';
import { type Attempt, EngineCrash, type Process, type Usage } from '../../src/supervise/types.ts';

const PROGRAMS = new URL('../../fixtures/bin/', import.meta.url).pathname;

/** The path of one of the programs in fixtures/bin. */
export const program = (name: string): string => join(PROGRAMS, `${name}.mjs`);

export interface ProgramOptions {
  /** In which each instance makes its own. */
  readonly folder: string;
  readonly args?: readonly string[];
}

/** One of the programs in fixtures/bin as a supervised instance: as real as an engine, and as simple as can be. */
export class ProgramProcess implements Process {
  readonly id: string;
  readonly ended: Promise<Error | undefined>;
  readonly #name: string;
  readonly #options: ProgramOptions;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  #child: Child | undefined;
  #client: LineClient | undefined;
  #folder: string | undefined;
  #ready = false;
  #stopping = false;

  constructor(id: string, name: string, options: ProgramOptions) {
    this.id = id;
    this.ended = this.#ended.promise;
    this.#name = name;
    this.#options = options;
  }

  async start(signal: AbortSignal): Promise<void> {
    const giveUp = () => this.#child?.kill();
    signal.addEventListener('abort', giveUp);
    try {
      await this.#begin(signal);
      this.#ready = true;
    } catch (error) {
      await this.stop();
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#child?.end();
    await this.#clean();
    this.#ended.resolve(undefined);
  }

  get healthy(): boolean {
    return this.#ready && this.#child?.running === true;
  }

  /** Undefined until it has been started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async abandon(_attempt: Attempt): Promise<boolean> {
    return false;
  }

  async usage(): Promise<Usage | undefined> {
    return this.#child && groupUsage(this.#child.pid);
  }

  async ping(): Promise<void> {
    await this.call('ping');
  }

  /** Has the program do one thing. */
  async call<T>(verb: string, params: object = {}): Promise<T> {
    if (!this.#client) throw new EngineCrash('has not started');
    return this.#client.call<T>(verb, params);
  }

  async #begin(signal: AbortSignal): Promise<void> {
    this.#folder = await mkdtemp(join(this.#options.folder, `${this.id}-`));
    signal.throwIfAborted();
    const child = await startChild({
      command: process.execPath,
      args: [program(this.#name), ...(this.#options.args ?? [])],
      cwd: this.#folder,
      env: {},
    });
    this.#child = child;
    this.#client = new LineClient(child);
    void child.ended.then(ending => this.#gone(ending.lastLines));
    signal.throwIfAborted();
    await this.#client.ready;
  }

  async #gone(lastLines: readonly string[]): Promise<void> {
    await this.#clean();
    this.#ended.resolve(this.#stopping ? undefined : new EngineCrash(['ended', ...lastLines].join('\n')));
  }

  async #clean(): Promise<void> {
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }
}
