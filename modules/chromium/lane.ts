import type { Connection } from 'puppeteer';
import type { Door, Passage } from '../../src/egress/egress.ts';
import { orAborted } from '../../src/http/request-signal.ts';
import { LinkedSignal } from '../../src/supervise/linked-signal.ts';
import { EngineCrash } from '../../src/supervise/types.ts';
import { type Clock, sleep } from '../../src/time/clock.ts';
import { blamingFairly } from './crash.ts';
import { attach, isGone, type Session } from './devtools.ts';
import type { PageJob } from './job.ts';
import { LazyContent } from './lazy.ts';
import { PageLoad } from './page-load.ts';
import { printPage } from './print.ts';
import type { Isolation } from './settings.ts';
import { newHost, siteOf, urlOf } from './site.ts';
import { dressForPrint } from './styles.ts';
import { forget, isInert, leave } from './traces.ts';
import { beginVisit, type Visit } from './visit.ts';
import { waitFor } from './waits.ts';

export interface LaneOptions {
  readonly connection: Connection;
  /** Opens a way out that is the lane's own. */
  openDoor(): Promise<Door>;
  readonly isolation: Isolation;
  /** The host of all pages where nothing keeps them apart. */
  readonly sharedHost: string;
  readonly isForbidden: (url: string) => boolean;
  readonly clock: Clock;
}

/** The window that pages see before they are printed: that of the compatible API, which some pages lay out by. */
const WINDOW = { width: 780, height: 437 };
/** Pages after which a lane is renewed, so that what a browser keeps for each origin that it has seen stays bounded. */
const MOST_PAGES = 500;
/** Cleaning takes 5 to 50 ms; a page that resists for so long is thrown away with its lane. */
const CLEAN_MS = 1000;

/**
 * A browser context with one tab, attached and set up ahead of any request, and a way out of its own. It prints one page
 * after the other; `clean` puts it back to where nothing of a page is left, or says that it can't.
 */
export class Lane {
  readonly contextId: string;
  readonly #options: LaneOptions;
  readonly #tab: Session;
  readonly #targetId: string;
  readonly #door: Door;
  readonly #dead = new AbortController();
  #pages = 0;
  /** The origin of the page that is in the tab, if it's one of ours. */
  #origin: string | undefined;
  /** What the page did that its successor could notice. */
  #traces = new Set<'spoiled' | 'active' | 'media'>();

  private constructor(options: LaneOptions, parts: { contextId: string; targetId: string; tab: Session; door: Door }) {
    this.#options = options;
    this.contextId = parts.contextId;
    this.#targetId = parts.targetId;
    this.#tab = parts.tab;
    this.#door = parts.door;
    this.#watch();
  }

  /**
   * Nothing is left behind where it fails.
   * @throws EngineCrash the tab, or the browser, has gone meanwhile
   * @throws what the browser answers, or what opening a door throws
   */
  static async open(options: LaneOptions): Promise<Lane> {
    try {
      return await Lane.#make(options);
    } catch (error) {
      throw isGone(error) ? new EngineCrash('no tab could be opened', { cause: error }) : error;
    }
  }

  static async #make(options: LaneOptions): Promise<Lane> {
    const { connection } = options;
    await using undo = new AsyncDisposableStack();
    const door = undo.use(await options.openDoor());
    const { browserContextId: contextId } = await connection.send('Target.createBrowserContext', {
      proxyServer: door.address,
      proxyBypassList: '<-loopback>',
    });
    undo.defer(() => disposeContext(connection, contextId));
    const newTab = { url: 'about:blank', browserContextId: contextId, ...WINDOW };
    const { targetId } = await connection.send('Target.createTarget', newTab);
    const tab = await attach(connection, targetId);
    const lane = new Lane(options, { contextId, targetId, tab, door });
    await lane.#setUp();
    undo.move();
    return lane;
  }

  /**
   * Loads a page, waits for what it is to wait for, and prints it. Whatever becomes of it, the lane has to be cleaned or
   * closed before the next one.
   * @throws Failure what is wrong with the page or the wishes
   * @throws EngineCrash the tab's process has died
   * @throws the signal's reason
   */
  async print(job: PageJob, signal: AbortSignal): Promise<void> {
    using over = new LinkedSignal(signal, this.#dead.signal);
    const host = this.#options.isolation === 'none' ? this.#options.sharedHost : newHost();
    const site = 'files' in job.page ? siteOf(host, job.page.files) : undefined;
    const url = 'files' in job.page ? urlOf(host, job.page.entry) : job.page.url;
    const { clock } = this.#options;
    const visit = beginVisit({ tab: this.#tab, frameId: this.#targetId, clock, signal: over.signal });
    this.#pages += 1;
    this.#origin = site && `http://${host}`;
    // An expression is script that the browser's own count of the page's scripts leaves out.
    if (job.waits.expression !== '') this.#traces.add('active');
    const passage = this.#door.admit({ ...(site && { site }), signal: over.signal });
    try {
      await blamingFairly(visit, () => this.#printThrough(passage, url, job, visit));
    } finally {
      passage.close();
      if (passage.wentOutside) this.#traces.add('spoiled');
    }
  }

  /**
   * Leaves nothing of the page that was printed. False: that can't be had, the lane has to be closed.
   */
  async clean(): Promise<boolean> {
    if (this.#pages >= MOST_PAGES || !this.usable) return false;
    try {
      await this.#inTime(this.#sweep());
    } catch {
      return false;
    }
    // A worker may have turned up meanwhile.
    if (!this.usable) return false;
    this.#traces = new Set();
    return true;
  }

  /** Leaves the page for an empty one, so that it takes neither memory nor time while nobody wants the lane. */
  async rest(): Promise<boolean> {
    if (this.#options.isolation === 'none') return true;
    return this.#inTime(leave(this.#tab)).then(
      () => true,
      () => false,
    );
  }

  /** Ends the tab with all that runs in it; settles when nothing of it is left. */
  async close(): Promise<void> {
    this.#dead.abort(new EngineCrash('the lane was closed'));
    await this.#door[Symbol.asyncDispose]();
    await disposeContext(this.#options.connection, this.contextId);
  }

  /** Whether another page may come in, once it is clean. */
  get usable(): boolean {
    const isSpoiled = this.#traces.has('spoiled') && this.#options.isolation !== 'none';
    return !isSpoiled && !this.#dead.signal.aborted;
  }

  /** Something is in this context that doesn't belong there: it goes with the context. */
  spoil(): void {
    this.#traces.add('spoiled');
  }

  /** The tab's process has ended. */
  crash(): void {
    this.#dead.abort(new EngineCrash('the page’s process crashed'));
  }

  async #printThrough(passage: Passage, url: string, job: PageJob, visit: Visit): Promise<void> {
    const { failOnStatus, waits, media } = job;
    using page = new PageLoad(visit, url, { passage, failOnStatus, isForbidden: this.#options.isForbidden });
    using lazy = new LazyContent(visit);
    await page.navigate();
    if (media !== '') {
      this.#traces.add('media');
      await visit.send('Emulation.setEmulatedMedia', { media });
    }
    await this.#dress(page, job, visit);
    await waitFor(waits, visit);
    await this.#dress(page, job, visit);
    await lazy.loaded();
    await printPage(job.print, visit, job.output);
  }

  /** Dresses the document that is there, and any other that the page sends itself to meanwhile. */
  async #dress(page: PageLoad, job: PageJob, visit: Visit): Promise<void> {
    while (page.moves || !page.isDressed) {
      await page.loaded();
      page.isDressed = true;
      await dressForPrint(job.print.printBackground, visit);
    }
  }

  async #setUp(): Promise<void> {
    const tab = this.#tab;
    await Promise.all([
      this.#options.connection.send('Browser.setDownloadBehavior', {
        behavior: 'deny',
        browserContextId: this.contextId,
      }),
      tab.send('Page.enable'),
      tab.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      // No body is ever asked for afterwards, so none has to be kept.
      tab.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
      tab.send('Performance.enable'),
      tab.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
      tab.send('Page.addScriptToEvaluateOnNewDocument', { source: 'if (self === top) name = ""' }),
    ]);
  }

  #watch(): void {
    this.#tab.on('Inspector.targetCrashed', () => this.crash());
    this.#tab.on('Page.javascriptDialogOpening', ({ type }) => {
      // Refused, but for the question whether a page may be left.
      this.#tab.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => {});
    });
    this.#tab.on('Page.frameAttached', () => this.#traces.add('active'));
    this.#tab.on('Page.frameScheduledNavigation', () => this.#traces.add('active'));
  }

  async #sweep(): Promise<void> {
    const { isolation } = this.#options;
    const tasks: Promise<unknown>[] = [];
    if (this.#traces.has('media')) tasks.push(this.#tab.send('Emulation.setEmulatedMedia', { media: '' }));
    if (isolation !== 'none') {
      if (!(!this.#traces.has('active') && (await isInert(this.#tab)))) {
        await leave(this.#tab);
        tasks.push(forget(this.#tab, this.#options.connection, { contextId: this.contextId, origin: this.#origin }));
      }
      tasks.push(this.#tab.send('Page.resetNavigationHistory'));
    }
    await Promise.all(tasks);
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    const done = new AbortController();
    const late = sleep(this.#options.clock, CLEAN_MS, done.signal).then(() =>
      Promise.reject(new Error('cleaning took too long')),
    );
    late.catch(() => {});
    work.catch(() => {});
    try {
      return await orAborted(Promise.race([work, late]), this.#dead.signal);
    } finally {
      done.abort();
    }
  }
}

/** Nothing to do where the browser itself has gone. */
async function disposeContext(connection: Connection, browserContextId: string): Promise<void> {
  await connection.send('Target.disposeBrowserContext', { browserContextId }).catch(() => {});
}
