import type { CDPSession, Connection, Protocol } from 'puppeteer';
import type { Door, Passage, VirtualSite } from '../../src/egress/egress.ts';
import { EngineCrash } from '../../src/supervise/types.ts';
import { type Clock, sleep } from '../../src/time/clock.ts';
import { loadPage } from './page-load.ts';
import { adjustStyles, type PrintOptions, printPage } from './print.ts';
import type { Isolation } from './settings.ts';
import { SHARED_HOST } from './site.ts';
import { type Waits, waitUntilReady } from './waits.ts';

/** A page to print. */
export interface PageJob {
  /** The address; a page of the site has the site's host. */
  readonly url: string;
  /** The uploaded files, for a page that is one of them. */
  readonly site: VirtualSite | undefined;
  readonly waits: Waits;
  readonly media: '' | 'screen' | 'print';
  readonly failOnHttpStatusCodes: readonly number[];
  readonly print: PrintOptions;
  /** Absolute path of the PDF. */
  readonly output: string;
}

export interface LaneOptions {
  readonly connection: Connection;
  readonly door: Door;
  readonly isolation: Isolation;
  readonly clock: Clock;
  /** Judges each URL in full, also of https, where the operator's lists say more than the defaults. */
  readonly judgeUrl: ((url: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

/**
 * A browser context with one tab, made before a request comes, and used for one request at a time. What one leaves
 * behind is gone before the next; where that can't be had by cleaning, the lane is not used again.
 */
export class Lane implements AsyncDisposable {
  /** Pages that it has printed or failed to print. */
  visits = 0;
  readonly #options: LaneOptions;
  readonly #context: string;
  readonly #session: CDPSession;
  readonly #crashed = Promise.withResolvers<never>();
  #mustGo = false;
  #origin = '';

  private constructor(options: LaneOptions, context: string, session: CDPSession) {
    this.#options = options;
    this.#context = context;
    this.#session = session;
    this.#crashed.promise.catch(() => {});
    session.on('Inspector.targetCrashed', () => {
      this.#mustGo = true;
      this.#crashed.reject(new EngineCrash('the renderer crashed'));
    });
    session.on('Page.javascriptDialogOpening', () => {
      session.send('Page.handleJavaScriptDialog', { accept: false }).catch(() => {});
    });
  }

  /** Makes a context that leads out through the door only, and attaches to its tab. */
  static async open(options: LaneOptions): Promise<Lane> {
    const { connection, door } = options;
    const { browserContextId } = await connection.send('Target.createBrowserContext', {
      proxyServer: `http://${door.address}`,
      proxyBypassList: '<-loopback>',
      disposeOnDetach: true,
    });
    const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const info = { targetId, browserContextId } as Protocol.Target.TargetInfo;
    const session = await connection.createSession(info);
    const lane = new Lane(options, browserContextId, session);
    await lane.#prepare();
    return lane;
  }

  /**
   * Loads the page, waits for it and prints it.
   * @throws Failure; EngineCrash when its renderer dies; the signal's reason
   */
  async print(job: PageJob, signal: AbortSignal): Promise<void> {
    this.visits += 1;
    this.#origin = new URL(job.url).origin;
    const { door } = this.#options;
    const passage = door.admit({ signal, ...(job.site && { site: job.site }) });
    const over = new AbortController();
    try {
      await Promise.race([this.#visit(job, passage, signal), this.#crashed.promise, rejection(signal, over.signal)]);
    } catch (error) {
      if (signal.aborted) this.#mustGo = true;
      throw error;
    } finally {
      over.abort();
      if (passage.wentOutside && this.#options.isolation !== 'none') this.#mustGo = true;
      passage.close();
    }
  }

  /** Whether it has something in it that no cleaning takes out. */
  get spoiled(): boolean {
    return this.#mustGo;
  }

  /** Takes away what the page has left, and stops what still runs in it. */
  async clean(): Promise<void> {
    const session = this.#session;
    if (this.#options.isolation === 'none') return;
    await Promise.all([
      // Its timers, workers and animations would go on until the next page comes.
      session.send('Page.setWebLifecycleState', { state: 'frozen' }),
      session.send('Page.resetNavigationHistory'),
      session.send('Emulation.setEmulatedMedia', { media: '' }),
      session.send('Storage.clearDataForOrigin', { origin: this.#origin, storageTypes: 'all' }),
      this.#options.connection.send('Storage.clearCookies', { browserContextId: this.#context }),
    ]);
  }

  /** Ends the tab and everything in its context at once, also a page that hangs. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { connection, door } = this.#options;
    await connection.send('Target.disposeBrowserContext', { browserContextId: this.#context }).catch(() => {}); // the browser is gone, and the context with it
    await door[Symbol.asyncDispose]();
  }

  async #prepare(): Promise<void> {
    const session = this.#session;
    const { connection, judgeUrl } = this.#options;
    await Promise.all([
      session.send('Page.enable'),
      session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
      session.send('Inspector.enable'),
      // Tabs of one window hide each other, and a hidden page gets no animation frames.
      session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
      session.send('Page.addScriptToEvaluateOnNewDocument', { source: 'if (window === top) window.name = ""' }),
      connection.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId: this.#context }),
    ]);
    if (judgeUrl) await this.#interceptRequests(judgeUrl);
  }

  async #visit(job: PageJob, passage: Passage, signal: AbortSignal): Promise<void> {
    const session = this.#session;
    if (this.visits > 1) await session.send('Page.setWebLifecycleState', { state: 'active' });
    await loadPage(session, job.url, {
      passage,
      failOn: job.failOnHttpStatusCodes,
      watchStatus: job.site === undefined,
    });
    await Promise.all([
      adjustStyles(session, job.print.printBackground),
      job.media && session.send('Emulation.setEmulatedMedia', { media: job.media }),
    ]);
    await waitUntilReady(session, job.waits, this.#options.clock, signal);
    await printPage(session, job.print, job.output);
  }

  async #interceptRequests(judgeUrl: NonNullable<LaneOptions['judgeUrl']>): Promise<void> {
    const session = this.#session;
    const until = new AbortController();
    session.on('Fetch.requestPaused', ({ requestId, request }) => {
      const own = hostOf(request.url).endsWith('.localhost');
      const verdict = own ? Promise.resolve(true) : judgeUrl(request.url, until.signal).catch(() => false);
      void verdict
        .then(ok =>
          ok
            ? session.send('Fetch.continueRequest', { requestId })
            : session.send('Fetch.failRequest', { requestId, errorReason: 'AccessDenied' }),
        )
        .catch(() => {});
    });
    await session.send('Fetch.enable', {});
  }
}

/** The site's own host at every level of isolation. */
export function hostFor(isolation: Isolation, unguessable: () => string): string {
  return isolation === 'none' ? SHARED_HOST : unguessable();
}

/** Cleans within the time, or says that it could not. */
export async function cleanWithin(lane: Lane, ms: number, clock: Clock): Promise<boolean> {
  const over = new AbortController();
  const cleaned = lane.clean().then(
    () => true,
    () => false,
  );
  const late = sleep(clock, ms, over.signal).then(
    () => false,
    () => false,
  );
  return Promise.race([cleaned, late]).finally(() => over.abort());
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

function rejection(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: until });
  });
}
