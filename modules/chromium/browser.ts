import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Connection, type ConnectionTransport } from 'puppeteer';
import { openDoor } from '../../src/egress/door.ts';
import type { EgressPolicy } from '../../src/egress/policy.ts';
import { type Child, type Ending, startChild } from '../../src/process/child.ts';
import { groupUsage } from '../../src/process/process-group.ts';
import { type Attempt, type Early, EngineCrash, type Process, type Usage } from '../../src/supervise/types.ts';
import type { Clock } from '../../src/time/clock.ts';
import { browserFlags } from './flags.ts';
import { cleanWithin, Lane, type PageJob } from './lane.ts';
import { debuggingPipe } from './pipe.ts';
import type { ChromiumSettings } from './settings.ts';
import { siteOf, unguessableHost } from './site.ts';

export interface BrowserOptions {
  readonly settings: Pick<
    ChromiumSettings,
    'binPath' | 'isolation' | 'maxConcurrency' | 'laneRenewAfter' | 'lingerTimeout'
  >;
  readonly sandbox: boolean;
  /** Makes the instance's own folder; the browser removes it. */
  folder(): Promise<string>;
  readonly policy: EgressPolicy;
  /** Whether each URL has to be judged in full, inside https too. */
  readonly judgeEachUrl: boolean;
  /** Ports of this machine that no page may reach. */
  readonly forbiddenPorts: readonly number[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * One browser and its lanes. Usable without a supervisor: `start`, then `print`, at most `maxConcurrency` at once,
 * awaiting `clean` before the lane counts as free, then `stop`.
 */
export class Browser implements Process {
  readonly ended: Promise<Error | undefined>;
  readonly #options: BrowserOptions;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #free: Lane[] = [];
  /** By attempt. */
  readonly #busy = new Map<string, Lane>();
  #child: Child | undefined;
  #connection: Connection | undefined;
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
      await this.stop();
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    void this.#makeLanesAhead();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#ready = false;
    await this.#child?.end();
    await this.#clearUp();
    this.#ended.resolve(undefined);
  }

  get healthy(): boolean {
    return this.#ready && this.#child?.running === true;
  }

  /** What the browser calls itself; empty before it has started. */
  get version(): string {
    return this.#version;
  }

  /** Its process group. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Throws the attempt's context away: that ends also a page that hangs, and nobody else's. */
  async abandon(attempt: Attempt): Promise<boolean> {
    const lane = this.#busy.get(attempt.id);
    if (!lane) return true;
    await lane[Symbol.asyncDispose]();
    return true;
  }

  async usage(): Promise<Usage | undefined> {
    return this.#child && groupUsage(this.#child.pid);
  }

  async ping(): Promise<void> {
    await this.#running().send('Browser.getVersion');
  }

  /**
   * Prints a page. The result is there when the PDF is on disk; the lane is cleaned after that.
   * @throws Failure; EngineCrash; the signal's reason
   */
  async print(job: PageJob, attempt: Pick<Attempt, 'id' | 'signal'>): Promise<Early<void>> {
    const lane = this.#free.pop() ?? (await this.#openLane());
    this.#busy.set(attempt.id, lane);
    try {
      await lane.print(job, attempt.signal);
    } catch (error) {
      await this.#giveBack(attempt.id, lane);
      throw error;
    }
    return { result: undefined, clean: this.#giveBack(attempt.id, lane) };
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { settings, sandbox, environment } = this.#options;
    const folder = await this.#options.folder();
    this.#folder = folder;
    await Promise.all(['profile', 'tmp', 'proof'].map(name => mkdir(join(folder, name), { mode: 0o700 })));
    signal.throwIfAborted();
    const child = await startChild({
      command: settings.binPath,
      args: browserFlags({ profile: join(folder, 'profile'), isolation: settings.isolation, sandbox }),
      cwd: folder,
      env: childEnvironment(folder, environment),
      extraPipes: 2,
    });
    this.#child = child;
    void child.ended.then(ending => this.#gone(ending));
    signal.throwIfAborted();
    this.#connection = connectionOver(debuggingPipe(child));
    this.#version = (await this.#connection.send('Browser.getVersion')).product;
    await this.#prove(join(folder, 'proof'), signal);
  }

  /** A browser is ready once it has printed a page. */
  async #prove(folder: string, signal: AbortSignal): Promise<void> {
    const page = join(folder, 'index.html');
    await writeFile(page, '<!doctype html><title>Ready</title><p>Ready');
    const index = { field: 'files', name: 'index.html', path: 'index.html', file: page, bytes: 0 };
    const site = siteOf([index], index, unguessableHost());
    const { clean } = await this.print(
      {
        url: `http://${site.host}/index.html`,
        site,
        waits: { waitForExpression: '', waitForSelector: '', waitDelay: 0 },
        media: '',
        failOnHttpStatusCodes: [],
        print: { ...PROOF_PRINT },
        output: join(folder, 'proof.pdf'),
      },
      { id: 'proof', signal },
    );
    await clean;
  }

  /** So that no request waits for its lane to be made. One after the other: the first request goes first. */
  async #makeLanesAhead(): Promise<void> {
    try {
      while (this.healthy && this.#free.length + this.#busy.size < this.#options.settings.maxConcurrency) {
        this.#free.push(await this.#openLane());
      }
    } catch (error) {
      if (this.healthy) this.#options.log.warn({ err: error }, 'a lane could not be made ahead');
    }
  }

  async #openLane(): Promise<Lane> {
    const { policy, judgeEachUrl, clock, log, forbiddenPorts, settings } = this.#options;
    const connection = this.#running();
    const door = await openDoor({ policy, log, clock, forbiddenPorts });
    try {
      return await Lane.open({
        connection,
        door,
        clock,
        isolation: settings.isolation,
        judgeUrl: judgeEachUrl ? async (url, signal) => (await policy.judge(url, signal)).ok : undefined,
      });
    } catch (error) {
      await door[Symbol.asyncDispose]();
      throw this.healthy || !this.#ready ? error : new EngineCrash('the browser has ended', { cause: error });
    }
  }

  /** Settles when a clean lane is there in its place. */
  async #giveBack(attempt: string, lane: Lane): Promise<void> {
    const { settings, clock } = this.#options;
    try {
      const keep =
        !lane.spoiled &&
        lane.visits < settings.laneRenewAfter &&
        (await cleanWithin(lane, settings.lingerTimeout, clock)) &&
        !lane.spoiled;
      if (keep) return void this.#free.push(lane);
      await lane[Symbol.asyncDispose]();
      if (this.#child?.running && !this.#stopping) this.#free.push(await this.#openLane());
    } finally {
      this.#busy.delete(attempt);
    }
  }

  #running(): Connection {
    if (!this.#connection || !this.#child?.running) throw new EngineCrash('the browser is not running');
    return this.#connection;
  }

  async #gone(ending: Ending): Promise<void> {
    this.#ready = false;
    this.#connection?.dispose();
    await this.#clearUp();
    const how = `the browser ended (code ${ending.exitCode}, signal ${ending.signal})`;
    this.#ended.resolve(this.#stopping ? undefined : new EngineCrash([how, ...ending.lastLines.slice(-5)].join('\n')));
  }

  async #clearUp(): Promise<void> {
    const lanes = [...this.#free.splice(0), ...this.#busy.values()];
    await Promise.all(lanes.map(lane => lane[Symbol.asyncDispose]()));
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

const PROOF_PRINT = {
  landscape: false,
  printBackground: false,
  scale: 1,
  singlePage: false,
  paperWidth: 8.5,
  paperHeight: 11,
  marginTop: 0.39,
  marginBottom: 0.39,
  marginLeft: 0.39,
  marginRight: 0.39,
  nativePageRanges: '',
  preferCssPageSize: false,
  header: undefined,
  footer: undefined,
};

/** Named variables only; everything that a browser writes goes into its own folder. */
function childEnvironment(folder: string, passedOn: BrowserOptions['environment']): Record<string, string> {
  const kept = ['TZ', 'FONTCONFIG_FILE', 'FONTCONFIG_PATH'].flatMap(name => {
    const value = passedOn[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    LANG: passedOn.LANG ?? 'C.UTF-8',
    HOME: folder,
    TMPDIR: join(folder, 'tmp'),
    XDG_CONFIG_HOME: join(folder, 'profile'),
    XDG_CACHE_HOME: join(folder, 'profile'),
  };
}

/**
 * Puppeteer's connection without Puppeteer's browser: that one attaches to every frame and worker, which costs CPU per
 * page and is not needed here. Its constructor is left out of the types, though not of the package; 0 means no time
 * limit of its own for commands.
 */
function connectionOver(transport: ConnectionTransport): Connection {
  const Constructor = Connection as unknown as new (
    url: string,
    transport: ConnectionTransport,
    delay: number,
    timeout: number,
  ) => Connection;
  return new Constructor('', transport, 0, 0);
}
