import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Connection } from 'puppeteer';
import { openDoor } from '../../src/egress/door.ts';
import type { EgressPolicy } from '../../src/egress/policy.ts';
import { orAborted } from '../../src/http/request-signal.ts';
import { type Child, startChild } from '../../src/process/child.ts';
import { groupUsage } from '../../src/process/process-group.ts';
import { type Attempt, type Early, EngineCrash, type Process, type Usage } from '../../src/supervise/types.ts';
import type { Clock } from '../../src/time/clock.ts';
import { connectTo } from './devtools.ts';
import { browserFlags } from './flags.ts';
import type { PageJob } from './job.ts';
import { Lane } from './lane.ts';
import { LanePool } from './lane-pool.ts';
import { ListGuard } from './list-guard.ts';
import { oncePipeCloses } from './pipe.ts';
import { PROOF, proofOf } from './proof.ts';
import type { Isolation } from './settings.ts';
import { newHost } from './site.ts';

export interface BrowserOptions {
  /** Absolute path of the program itself. */
  readonly program: string;
  /** Makes the instance's own folder; the browser removes it. */
  folder(): Promise<string>;
  /** Pages at once. */
  readonly lanes: number;
  readonly isolation: Isolation;
  readonly sandbox: boolean;
  readonly policy: EgressPolicy;
  /** Whether there are lists by which URLs inside tunnels have to be judged, too. */
  readonly judgesTunnels: boolean;
  /** Ports of this machine that no page may reach: the service's own. */
  readonly forbiddenPorts: readonly number[];
  readonly log: Pick<Logger, 'warn' | 'debug'>;
  readonly clock: Clock;
  /** What of the service's own environment pages may see: the time zone, the language and the fonts. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * One instance of Chromium. Usable without a supervisor: `start`, then `print` as often as there are lanes at once, each
 * time awaiting `clean`, then `stop`.
 */
export class Browser implements Process {
  readonly ended: Promise<Error | undefined>;
  readonly #options: BrowserOptions;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #working = new Map<string, Lane>();
  #child: Child | undefined;
  #connection: Connection | undefined;
  #lanes: LanePool | undefined;
  #folder: string | undefined;
  #version = '';
  #ready = false;
  #stopping = false;

  constructor(options: BrowserOptions) {
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
      const words = this.#child?.lastLines().slice(-5) ?? [];
      await this.stop();
      if (signal.aborted) throw signal.reason;
      throw new Error([error instanceof Error ? error.message : String(error), ...words].join('\n'), { cause: error });
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child?.kill();
    await this.#lanes?.close(new EngineCrash('the browser was stopped'));
    await this.#child?.end();
    await this.#clean();
    this.#ended.resolve(undefined);
  }

  get healthy(): boolean {
    return this.#ready && this.#child?.running === true;
  }

  /**
   * Prints one page; the result is there when the PDF is on disk, before its lane is clean.
   * @throws Failure what is wrong with the page or the wishes; EngineCrash; the signal's reason
   */
  async print(job: PageJob, attempt: Pick<Attempt, 'id' | 'signal'>): Promise<Early<undefined>> {
    const lanes = this.#running(this.#lanes);
    const lane = await lanes.take(attempt.signal);
    this.#working.set(attempt.id, lane);
    try {
      await lane.print(job, attempt.signal);
    } catch (error) {
      // Whatever still goes on in there must have ended before the slot is free.
      await (attempt.signal.aborted ? lanes.discard(lane) : lanes.release(lane));
      throw error;
    } finally {
      this.#working.delete(attempt.id);
    }
    return { result: undefined, clean: lanes.release(lane) };
  }

  /** Ends the lane that the attempt is in: a page that never ends, ends with its tab. */
  async abandon(attempt: Pick<Attempt, 'id'>): Promise<boolean> {
    const lane = this.#working.get(attempt.id);
    if (lane) await this.#lanes?.discard(lane);
    return true;
  }

  async usage(): Promise<Usage | undefined> {
    return this.#child && groupUsage(this.#child.pid);
  }

  async ping(): Promise<void> {
    await this.#running(this.#connection).send('Browser.getVersion');
  }

  /** Its process, which is also its process group, once it has been started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Such as `Chrome/156.0.8078.114`, once it has been started. */
  get version(): string {
    return this.#version;
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { program, isolation, sandbox, environment } = this.#options;
    const folder = await this.#options.folder();
    this.#folder = folder;
    const [profile, temp] = [join(folder, 'profile'), join(folder, 'tmp')];
    await Promise.all([profile, temp].map(path => mkdir(path, { mode: 0o700 })));
    signal.throwIfAborted();
    const child = await startChild({
      command: program,
      args: browserFlags({ profile, isolation, sandbox }),
      cwd: folder,
      env: { LANG: 'C.UTF-8', ...passedOn(environment), HOME: folder, TMPDIR: temp },
      extraPipes: 2,
    });
    this.#child = child;
    child.stdout.resume();
    void child.ended.then(ending => this.#gone(ending.lastLines));
    signal.throwIfAborted();
    await orAborted(this.#connect(child), signal);
    await this.#prove(folder, signal);
  }

  async #connect(child: Child): Promise<void> {
    const { policy, log, isolation, clock, forbiddenPorts } = this.#options;
    oncePipeCloses(child, () => this.#lost(child));
    const connection = await Promise.race([
      connectTo(child),
      child.ended.then(() => Promise.reject(new Error('it ended'))),
    ]);
    this.#connection = connection;
    this.#version = (await connection.send('Browser.getVersion')).product;
    const guard = this.#options.judgesTunnels ? new ListGuard(policy, log) : undefined;
    await guard?.watch(connection);
    const sharedHost = newHost();
    const isForbidden = (url: string) => URL.canParse(url) && policy.byLists(new URL(url))?.ok === false;
    const door = () => openDoor({ policy: guard ?? policy, log, clock, forbiddenPorts });
    const lane = { connection, openDoor: door, isolation, sharedHost, isForbidden, clock };
    this.#lanes = new LanePool({ most: this.#options.lanes, open: () => Lane.open(lane), clock });
    this.#watchTargets(connection);
  }

  /** Nothing but its tab belongs into a lane. What is there all the same (a service worker) goes with the whole context. */
  #watchTargets(connection: Connection): void {
    connection.on('Target.targetCreated', ({ targetInfo }) => {
      const { type, browserContextId, openerId, targetId } = targetInfo;
      const lane = this.#lanes?.of(browserContextId);
      if (!lane || !(/worker$/.test(type) || openerId !== undefined)) return;
      lane.spoil();
      if (openerId !== undefined) connection.send('Target.closeTarget', { targetId }).catch(() => {});
    });
  }

  /** A real page, printed: everything that a request will need works, and has been warmed up. */
  async #prove(folder: string, signal: AbortSignal): Promise<void> {
    const file = join(folder, 'proof.html');
    const output = join(folder, 'proof.pdf');
    await writeFile(file, PROOF);
    const { clean } = await this.print(proofOf(file, output), { id: randomUUID(), signal });
    await clean;
    const head = (await readFile(output)).subarray(0, 5).toString('latin1');
    if (head !== '%PDF-') throw new Error('its first page was no PDF');
    await Promise.all([rm(file), rm(output)]);
  }

  #running<T>(part: T | undefined): T {
    if (part === undefined) throw new EngineCrash('has not started');
    return part;
  }

  /** A browser that can't be talked to is of no use, whether it has ended or not: what follows is its end. */
  #lost(child: Child): void {
    this.#ready = false;
    child.kill();
    void this.#lanes?.close(new EngineCrash('the browser closed its connection'));
  }

  async #gone(lastLines: readonly string[]): Promise<void> {
    await this.#lanes?.close(new EngineCrash('the browser has ended'));
    await this.#clean();
    this.#ended.resolve(this.#stopping ? undefined : new EngineCrash(['ended', ...lastLines.slice(-5)].join('\n')));
  }

  async #clean(): Promise<void> {
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }
}

function passedOn(environment: BrowserOptions['environment']): Record<string, string> {
  const names = ['LANG', 'TZ', 'FONTCONFIG_FILE', 'FONTCONFIG_PATH'];
  return Object.fromEntries(names.flatMap(name => (environment[name] ? [[name, environment[name]]] : [])));
}
