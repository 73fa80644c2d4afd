import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PdfPlan } from '../../src/capability/capabilities.ts';
import { type Child, startChild } from '../../src/process/child.ts';
import { LineClient } from '../../src/process/line-client.ts';
import { groupUsage } from '../../src/process/process-group.ts';
import { type Attempt, EngineCrash, type Process, type Usage } from '../../src/supervise/types.ts';

export interface WorkerOptions {
  /** Absolute path of a Python that has pikepdf. */
  readonly python: string;
  /** Makes the instance's own folder; the worker removes it. */
  folder(): Promise<string>;
  /** Bytes that it may hold at most; 0: any number. */
  readonly memoryLimit: number;
}

/** What a worker says of itself when it starts. */
export interface WorkerVersions {
  readonly pikepdf: string;
  readonly qpdf: string;
  readonly python: string;
}

const PROGRAM = join(import.meta.dirname, 'python', 'worker.py');
/** A one-page PDF; a worker is ready once it has merged it with itself. */
const PROOF = join(import.meta.dirname, 'proof.pdf');

/**
 * One instance of the PDF engine: a Python program that carries out one plan at a time. Usable without a supervisor:
 * `start`, then `apply` in a loop, then `stop`.
 */
export class PdfWorker implements Process {
  readonly ended: Promise<Error | undefined>;
  readonly #options: WorkerOptions;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  #child: Child | undefined;
  #client: LineClient | undefined;
  #folder: string | undefined;
  #versions: WorkerVersions | undefined;
  #ready = false;
  #stopping = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.ended = this.#ended.promise;
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

  /** A plan can't be interrupted inside libqpdf: the instance has to go. */
  async abandon(_attempt: Attempt): Promise<boolean> {
    return false;
  }

  async usage(): Promise<Usage | undefined> {
    return this.#child && groupUsage(this.#child.pid);
  }

  /** Answered by a thread of its own; late while libqpdf holds Python's lock, which it does only while it computes. */
  async ping(): Promise<void> {
    await this.#running().call('ping');
  }

  /** Its process, which is also its process group, once it has been started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What runs in it, once it has started. */
  get versions(): WorkerVersions | undefined {
    return this.#versions;
  }

  /**
   * Carries out a plan.
   * @returns the number of pages written
   * @throws WorkerError `PDF_UNREADABLE` or `PDF_ENCRYPTED` with the fact `input` (its index), `MEMORY`, `DISK_FULL`, `FAILED`
   * @throws EngineCrash it ended before it answered
   */
  async apply(plan: PdfPlan): Promise<{ pages: number }> {
    const { steps, output } = plan;
    return this.#running().call('apply', { plan: { inputs: plan.inputs.map(input => input.file), steps, output } });
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const folder = await this.#options.folder();
    this.#folder = folder;
    signal.throwIfAborted();
    const child = await startChild({
      command: this.#options.python,
      args: ['-s', PROGRAM, String(this.#options.memoryLimit)],
      cwd: folder,
      env: { HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' },
    });
    this.#child = child;
    this.#client = new LineClient(child);
    void child.ended.then(ending => this.#gone(ending.lastLines));
    signal.throwIfAborted();
    this.#versions = (await this.#client.ready) as WorkerVersions;
    await this.#prove(folder);
  }

  async #prove(folder: string): Promise<void> {
    const input = { file: join(folder, 'proof.pdf'), name: 'proof.pdf' };
    await copyFile(PROOF, input.file);
    await this.apply({
      inputs: [input, input],
      steps: [{ do: 'merge', outline: 'keep' }],
      output: join(folder, 'proved.pdf'),
    });
  }

  #running(): LineClient {
    if (!this.#client) throw new EngineCrash('has not started');
    return this.#client;
  }

  async #gone(lastLines: readonly string[]): Promise<void> {
    await this.#clean();
    this.#ended.resolve(this.#stopping ? undefined : new EngineCrash(['ended', ...lastLines.slice(-5)].join('\n')));
  }

  async #clean(): Promise<void> {
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }
}
