import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Child, startChild } from '../../src/process/child.ts';
import { LineClient, WorkerError } from '../../src/process/line-client.ts';
import { groupUsage } from '../../src/process/process-group.ts';
import { type Attempt, EngineCrash, type Process, type Usage } from '../../src/supervise/types.ts';
import { sofficeArguments, sofficeEnvironment, unusableFilters } from './command.ts';
import type { Conversion } from './conversion.ts';
import { bringIn, takeOut } from './job-files.ts';
import { removeSockets } from './pipes.ts';
import { writeProfile } from './profile.ts';

export interface SofficeOptions {
  /** Absolute path of soffice.bin itself: the scripts around it would outlive their parent. */
  readonly soffice: string;
  /** Absolute path of a Python that has uno. */
  readonly python: string;
  /** Makes the instance's own folder; the instance removes it. */
  folder(): Promise<string>;
  /** Bytes of address space that soffice may have at most; 0: any number. */
  readonly memoryLimit: number;
  /** The time zone for dates in documents; absent: the system's. */
  readonly timeZone?: string | undefined;
  /** Told what the kernel couldn't lock. */
  warn?(text: string): void;
}

/** What an instance says of itself when it starts. */
export interface SofficeFacts {
  readonly version: string;
  /** All import and export filters that it has. */
  readonly filters: readonly string[];
}

const PYTHON_FOLDER = join(import.meta.dirname, 'python');
/** A one-page document; an instance is ready once it has converted it. */
const PROOF = join(import.meta.dirname, 'proof.docx');
/** soffice has written a new profile and wants to be started again. */
const PROFILE_CREATED = 81;
/** The part of the memory limit at which the next piece may have been one too many. */
const NEARLY = 0.85;

/**
 * One instance of LibreOffice: soffice in its jail, and the bridge that speaks UNO with it. It converts one document at a
 * time. Usable without a supervisor: `start`, then `convert` in a loop, then `stop`.
 */
export class Soffice implements Process {
  readonly ended: Promise<Error | undefined>;
  readonly #options: SofficeOptions;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #pipe = `platen${randomBytes(8).toString('hex')}`;
  #folder: string | undefined;
  #soffice: Child | undefined;
  #bridge: Child | undefined;
  #client: LineClient | undefined;
  #facts: SofficeFacts | undefined;
  #filters: ReadonlySet<string> = new Set();
  #jobs = 0;
  #ready = false;
  #stopping = false;

  constructor(options: SofficeOptions) {
    this.#options = options;
    this.ended = this.#ended.promise;
  }

  async start(signal: AbortSignal): Promise<void> {
    const giveUp = () => this.#kill();
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
    await this.#end();
    this.#ended.resolve(undefined);
  }

  get healthy(): boolean {
    return this.#ready && this.#soffice?.running === true && this.#bridge?.running === true;
  }

  /** Nothing interrupts a conversion inside soffice: the instance has to go. */
  async abandon(_attempt: Attempt): Promise<boolean> {
    return false;
  }

  async usage(): Promise<Usage | undefined> {
    if (!this.#soffice || !this.#bridge) return undefined;
    const [office, bridge] = await Promise.all([groupUsage(this.#soffice.pid), groupUsage(this.#bridge.pid)]);
    if (!office || !bridge) return office ?? bridge;
    return {
      residentBytes: office.residentBytes + bridge.residentBytes,
      cpuMs: office.cpuMs + bridge.cpuMs,
      stopped: office.stopped || bridge.stopped,
    };
  }

  /** Answered by soffice itself, also while it converts. */
  async ping(): Promise<void> {
    await this.#running().call('ping');
  }

  /** Whether this LibreOffice has the import filter, once it has started. */
  reads(filter: string): boolean {
    return this.#filters.has(filter);
  }

  /** What runs in it, once it has started. */
  get facts(): SofficeFacts | undefined {
    return this.#facts;
  }

  /** Its two processes, each with a process group of its own, once they have been started. */
  get pids(): { readonly soffice: number | undefined; readonly bridge: number | undefined } {
    return { soffice: this.#soffice?.pid, bridge: this.#bridge?.pid };
  }

  /**
   * Turns a document into a PDF.
   * @throws WorkerError with a code that python/bridge.py declares
   * @throws EngineCrash the instance ended, or lost its hold on soffice
   * @throws the system's error where the document can't be read or the result can't be written
   */
  async convert(conversion: Conversion): Promise<void> {
    const { file, name, output, ...rest } = conversion;
    const client = this.#running();
    const folder = join(this.#folder ?? '', 'jobs', String(++this.#jobs));
    try {
      const files = await bringIn(folder, { file, name });
      await client.call('convert', { ...rest, ...files });
      await takeOut(files, output);
    } catch (error) {
      const lost = error instanceof WorkerError && error.code === 'ENGINE';
      // The folder of an instance that has ended is gone, so its end shows as any error.
      if (lost || (this.#ready && !this.healthy)) throw new EngineCrash(String(error), { cause: error });
      throw (await this.#isForWantOfMemory(error)) ? new WorkerError('MEMORY', {}, String(error)) : error;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Whether a document left fonts behind, which the next one would be set in. */
  async keepsFonts(): Promise<boolean> {
    const fonts = join(this.#folder ?? '', 'profile/user/temp/embeddedfonts/fromdocs');
    const left = await readdir(fonts).catch(() => []);
    return left.length > 0;
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const folder = await this.#options.folder();
    this.#folder = folder;
    await Promise.all(['home', 'tmp', 'jobs'].map(name => mkdir(join(folder, name), { mode: 0o700 })));
    await Promise.all([writeProfile(this.#profile, this.#options.soffice), this.#removeSockets()]);
    signal.throwIfAborted();
    await this.#startBridge(folder);
    await this.#startSoffice(folder);
    signal.throwIfAborted();
    this.#facts = await this.#connected(signal);
    const unusable = await unusableFilters(join(this.#options.soffice, '../..'));
    this.#filters = new Set(this.#facts.filters).difference(new Set(unusable));
    await this.#prove(folder);
    this.#watch();
    for (const line of this.#soffice?.lastLines() ?? []) {
      if (line.startsWith('jail: ')) this.#options.warn?.(line.slice('jail: '.length));
    }
  }

  async #startSoffice(folder: string): Promise<void> {
    const { soffice, python, memoryLimit } = this.#options;
    const installation = join(soffice, '../..');
    const jail = [folder, String(process.pid), String(memoryLimit), installation, '--'];
    this.#soffice = await startChild({
      command: python,
      args: [
        '-I',
        '-S',
        join(PYTHON_FOLDER, 'jail.py'),
        ...jail,
        soffice,
        ...sofficeArguments(this.#profile, this.#pipe),
      ],
      cwd: folder,
      env: sofficeEnvironment(folder, this.#options.timeZone),
      dieWithParent: false, // the jail sees to it
    });
  }

  async #startBridge(folder: string): Promise<void> {
    this.#bridge = await startChild({
      command: this.#options.python,
      args: ['-s', '-u', join(PYTHON_FOLDER, 'bridge.py'), this.#pipe],
      cwd: folder,
      env: { ...sofficeEnvironment(folder, this.#options.timeZone), PYTHONDONTWRITEBYTECODE: '1' },
    });
    this.#client = new LineClient(this.#bridge);
  }

  /** Waits until the bridge has reached soffice, which is started once more if it was the profile's first time. */
  async #connected(signal: AbortSignal): Promise<SofficeFacts> {
    for (let first = true; ; first = false) {
      const outcome = await Promise.race([this.#running().ready, this.#soffice?.ended]);
      signal.throwIfAborted();
      if (isFacts(outcome)) return outcome;
      const again =
        first && this.#soffice?.running === false && (await this.#soffice.ended).exitCode === PROFILE_CREATED;
      if (!again) throw new EngineCrash(`soffice ended while starting: ${this.#lastWords()}`);
      await this.#startSoffice(this.#folder ?? '');
    }
  }

  async #prove(folder: string): Promise<void> {
    const result = join(folder, 'proof.pdf');
    await this.convert({ file: PROOF, name: 'proof.docx', output: result, filters: ['MS Word 2007 XML'] });
    await rm(result);
  }

  /** One without the other is of no use. */
  #watch(): void {
    void Promise.race([this.#soffice?.ended, this.#bridge?.ended]).then(async () => {
      const words = this.#lastWords();
      await this.#end();
      this.#ended.resolve(this.#stopping ? undefined : new EngineCrash(`soffice ended: ${words}`));
    });
  }

  /** A document that needs more memory than there may be looks to LibreOffice like one that it can't read. */
  async #isForWantOfMemory(error: unknown): Promise<boolean> {
    if (this.#options.memoryLimit === 0 || !(error instanceof WorkerError)) return false;
    if (!['UNREADABLE', 'NOT_CONVERTIBLE', 'FAILED'].includes(error.code)) return false;
    const status = await readFile(`/proc/${this.#soffice?.pid}/status`, 'latin1').catch(() => '');
    const peak = Number(/^VmPeak:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    return peak > NEARLY * this.#options.memoryLimit;
  }

  #lastWords(): string {
    const lines = [this.#soffice, this.#bridge].flatMap(child => child?.lastLines().slice(-5) ?? []);
    return lines.join('\n') || 'without a word';
  }

  #kill(): void {
    this.#soffice?.kill();
    this.#bridge?.kill();
  }

  async #end(): Promise<void> {
    this.#kill();
    await Promise.all([this.#soffice?.end(), this.#bridge?.end()]);
    if (!this.#folder) return;
    await Promise.all([this.#removeSockets(), rm(this.#folder, { recursive: true, force: true })]);
  }

  #running(): LineClient {
    if (!this.#client) throw new EngineCrash('has not started');
    return this.#client;
  }

  get #profile(): string {
    return join(this.#folder ?? '', 'profile');
  }

  #removeSockets(): Promise<void> {
    return removeSockets({ pipe: this.#pipe, folder: this.#folder ?? '', profile: this.#profile });
  }
}

function isFacts(outcome: unknown): outcome is SofficeFacts {
  return typeof outcome === 'object' && outcome !== null && 'version' in outcome;
}
