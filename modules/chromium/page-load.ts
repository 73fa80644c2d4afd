import { STATUS_CODES } from 'node:http';
import type { Protocol } from 'puppeteer';
import type { Passage } from '../../src/egress/egress.ts';
import { Failure } from '../../src/failure/failure.ts';
import { orAborted } from '../../src/http/request-signal.ts';
import type { Visit } from './visit.ts';

export interface LoadOptions {
  readonly passage: Pick<Passage, 'outcome'>;
  readonly failOnStatus: ReadonlySet<number>;
  /** Whether the operator's lists forbid a URL; asked about what went through a tunnel. */
  readonly isForbidden: (url: string) => boolean;
}

/** A page that sends itself elsewhere more often than this is printed where it is. */
const MOST_HOPS = 20;

/**
 * Follows the main frame from before its navigation to the document that will be printed. Make it before navigating, as
 * events are lost otherwise, and dispose of it at the end of the visit.
 */
export class PageLoad implements Disposable {
  readonly #visit: Visit;
  readonly #options: LoadOptions;
  readonly #undo = new DisposableStack();
  readonly #failed = Promise.withResolvers<never>();
  /** Documents whose load event has fired, by loader. */
  readonly #loaded = new Set<string>();
  /** The loader of the document that is there now. */
  #current: string | undefined;
  /** Another document is on its way: planned by the page for at once, asked for, or being fetched. */
  #planned = false;
  #asked = false;
  #coming: string | undefined;
  #url: string;
  #lastError = '';
  #hops = 0;
  #changed = Promise.withResolvers<void>();

  /** Whether what a caller does to each document has been done to the one that is there. */
  isDressed = false;

  constructor(visit: Visit, url: string, options: LoadOptions) {
    this.#visit = visit;
    this.#options = options;
    this.#url = url;
    this.#failed.promise.catch(() => {});
    this.#listen();
  }

  /** Whether the page is on its way to another document, so that what is there is not what will be printed. */
  get moves(): boolean {
    return (this.#planned || this.#asked || this.#coming !== undefined) && this.#hops < MOST_HOPS;
  }

  /**
   * Navigates, and settles when the page has loaded.
   * @throws Failure `PAGE_STATUS`, `PAGE_LOAD_FAILED`, `PAGE_NOT_PRINTABLE`, `FORBIDDEN`
   */
  async navigate(): Promise<void> {
    const { errorText, isDownload } = await this.#unlessFailed(this.#visit.send('Page.navigate', { url: this.#url }));
    if (errorText) throw this.#whyNot(errorText, isDownload === true);
    await this.loaded();
  }

  /**
   * Settles when the document that is there has loaded, and no other is on its way.
   * @throws as `navigate` does, for where the page sent itself
   */
  async loaded(): Promise<void> {
    while (this.moves || this.#current === undefined || !this.#loaded.has(this.#current)) {
      await this.#unlessFailed(orAborted(this.#changed.promise, this.#visit.signal));
    }
  }

  [Symbol.dispose](): void {
    this.#undo.dispose();
  }

  #unlessFailed<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed.promise]);
  }

  #listen(): void {
    const main = this.#visit.frameId;
    const on = <E extends keyof Events>(event: E, take: (params: Events[E]) => void) => {
      const { tab } = this.#visit;
      const handler = take as (params: unknown) => void;
      tab.on(event, handler);
      this.#undo.defer(() => tab.off(event, handler));
    };
    on('Network.requestWillBeSent', ({ type, frameId, requestId, request }) => {
      if (type !== 'Document' || frameId !== main) return;
      this.#url = request.url;
      this.#coming = requestId;
    });
    on('Network.responseReceived', ({ type, frameId, response }) => {
      if (type === 'Document' && frameId === main) this.#answered(response);
    });
    on('Network.loadingFailed', ({ requestId, errorText }) => {
      if (requestId !== this.#coming) return;
      this.#lastError = errorText;
      this.#coming = undefined;
      this.#tell();
    });
    on('Page.frameScheduledNavigation', ({ frameId, delay }) => {
      if (frameId === main && delay === 0) this.#planned = true;
    });
    on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
      if (frameId === main && disposition === 'currentTab') this.#asked = true;
    });
    on('Page.frameClearedScheduledNavigation', ({ frameId }) => {
      if (frameId !== main) return;
      this.#planned = false;
      this.#asked = false;
      this.#tell();
    });
    on('Page.frameNavigated', ({ frame }) => {
      if (frame.id === main) this.#arrived(frame);
    });
    on('Page.lifecycleEvent', ({ frameId, loaderId, name }) => {
      if (frameId !== main || name !== 'load') return;
      this.#loaded.add(loaderId);
      this.#tell();
    });
    // A page that left for something that is no page stays as it is, and its load event may never come.
    on('Page.frameStoppedLoading', ({ frameId }) => {
      if (frameId !== main || this.#current === undefined || this.#coming !== undefined) return;
      this.#asked = false;
      this.#loaded.add(this.#current);
      this.#tell();
    });
  }

  #arrived(frame: Protocol.Page.Frame): void {
    if (this.#current !== undefined) this.#hops += 1;
    this.#current = frame.loaderId;
    if (this.#hops < MOST_HOPS) this.isDressed = false;
    this.#coming = undefined;
    this.#planned = false;
    this.#asked = false;
    if (frame.unreachableUrl) this.#failed.reject(this.#whyNot(this.#lastError, false));
    this.#tell();
  }

  #answered({ status, statusText }: Protocol.Network.Response): void {
    const outcome = this.#options.passage.outcome(this.#url);
    if (outcome?.kind === 'refused' || outcome?.kind === 'failed') this.#failed.reject(this.#whyNot('', false));
    else if (this.#options.failOnStatus.has(status)) {
      this.#failed.reject(
        new Failure('PAGE_STATUS', { code: status, reason: statusText || (STATUS_CODES[status] ?? '') }),
      );
    }
  }

  /** What a client is told: what the door knows, else what the browser says. */
  #whyNot(errorText: string, isDownload: boolean): Failure {
    const facts = { url: this.#url };
    const outcome = this.#options.passage.outcome(this.#url);
    if (outcome?.kind === 'refused') return new Failure('FORBIDDEN', { ...facts, reason: outcome.reason });
    if (outcome?.kind === 'failed') return new Failure('PAGE_LOAD_FAILED', { ...facts, error: outcome.error });
    if (isDownload) return new Failure('PAGE_NOT_PRINTABLE', { ...facts, reason: 'a download' });
    if (errorText === 'net::ERR_ABORTED') {
      return new Failure('PAGE_NOT_PRINTABLE', { ...facts, reason: 'an answer without content' });
    }
    if (this.#options.isForbidden(this.#url)) return new Failure('FORBIDDEN', facts);
    return new Failure('PAGE_LOAD_FAILED', { ...facts, error: errorText || 'net::ERR_FAILED' });
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

interface Events {
  'Network.requestWillBeSent': Protocol.Network.RequestWillBeSentEvent;
  'Network.responseReceived': Protocol.Network.ResponseReceivedEvent;
  'Network.loadingFailed': Protocol.Network.LoadingFailedEvent;
  'Page.frameScheduledNavigation': Protocol.Page.FrameScheduledNavigationEvent;
  'Page.frameRequestedNavigation': Protocol.Page.FrameRequestedNavigationEvent;
  'Page.frameClearedScheduledNavigation': Protocol.Page.FrameClearedScheduledNavigationEvent;
  'Page.frameNavigated': Protocol.Page.FrameNavigatedEvent;
  'Page.lifecycleEvent': Protocol.Page.LifecycleEventEvent;
  'Page.frameStoppedLoading': Protocol.Page.FrameStoppedLoadingEvent;
}
