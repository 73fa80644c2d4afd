import { STATUS_CODES } from 'node:http';
import type { CDPSession, Protocol } from 'puppeteer';
import type { Passage } from '../../src/egress/egress.ts';
import { Failure } from '../../src/failure/failure.ts';

/** What the main frame shows once it has loaded. */
export interface LoadedPage {
  readonly url: string;
}

/**
 * Navigates and waits until the main frame has loaded, also where the page moves on to another before. Listens before it
 * navigates, or events would be lost. The session's Page domain and its lifecycle events have to be enabled.
 * @throws Failure `PAGE_LOAD_FAILED`, `FORBIDDEN`, `PAGE_NOT_PRINTABLE`, `PAGE_STATUS`
 */
export async function loadPage(
  session: CDPSession,
  url: string,
  options: { passage: Passage; failOn: readonly number[]; watchStatus: boolean },
): Promise<LoadedPage> {
  using watch = new MainFrame(session);
  if (options.watchStatus) await session.send('Network.enable');
  const started = await session.send('Page.navigate', { url });
  if (started.isDownload) throw new Failure('PAGE_NOT_PRINTABLE', { reason: 'a download' });
  if (started.errorText) throw loadFailure(started.errorText, url, options.passage);
  watch.began(started.frameId, started.loaderId ?? '');
  await watch.loaded;
  refuseIfFailed(watch.url || url, options.passage);
  if (watch.unreachable) throw loadFailure('net::ERR_FAILED', watch.unreachable, options.passage);
  if (watch.response) refuseStatus(watch.response, options.failOn);
  return { url: watch.url || url };
}

/** Follows the main frame from document to document until one has loaded. */
class MainFrame implements Disposable {
  readonly loaded: Promise<void>;
  url = '';
  unreachable = '';
  response: Protocol.Network.Response | undefined;
  readonly #session: CDPSession;
  readonly #done = Promise.withResolvers<void>();
  /** Loaders whose document has loaded: the event may come before the answer that names the loader. */
  readonly #finished = new Set<string>();
  readonly #responses = new Map<string, Protocol.Network.Response>();
  #frame = '';
  #loader = '';

  constructor(session: CDPSession) {
    this.#session = session;
    this.loaded = this.#done.promise;
    session.on('Page.frameNavigated', this.#navigated);
    session.on('Page.lifecycleEvent', this.#lifecycle);
    session.on('Network.responseReceived', this.#responded);
  }

  began(frame: string, loader: string): void {
    this.#frame = frame;
    this.#loader ||= loader;
    this.#look();
  }

  [Symbol.dispose](): void {
    this.#session.off('Page.frameNavigated', this.#navigated);
    this.#session.off('Page.lifecycleEvent', this.#lifecycle);
    this.#session.off('Network.responseReceived', this.#responded);
  }

  readonly #navigated = ({ frame }: Protocol.Page.FrameNavigatedEvent): void => {
    if (frame.parentId) return;
    this.url = frame.url;
    this.unreachable = frame.unreachableUrl ?? '';
    this.#loader = frame.loaderId;
    this.#look();
  };

  readonly #lifecycle = (event: Protocol.Page.LifecycleEventEvent): void => {
    if (event.name !== 'load') return;
    this.#finished.add(event.loaderId);
    this.#look();
  };

  readonly #responded = (event: Protocol.Network.ResponseReceivedEvent): void => {
    if (event.type === 'Document') this.#responses.set(event.loaderId, event.response);
  };

  #look(): void {
    if (!this.#frame || !this.#finished.has(this.#loader)) return;
    this.response = this.#responses.get(this.#loader);
    this.#done.resolve();
  }
}

/** The proxy knows better than the browser, which only sees the proxy's answer. */
function refuseIfFailed(url: string, passage: Passage): void {
  const outcome = passage.outcome(url);
  if (outcome?.kind === 'refused') throw new Failure('FORBIDDEN', { url, reason: outcome.reason });
  if (outcome?.kind === 'failed') throw new Failure('PAGE_LOAD_FAILED', { error: outcome.error });
}

function loadFailure(errorText: string, url: string, passage: Passage): Failure {
  const outcome = passage.outcome(url);
  if (outcome?.kind === 'refused') return new Failure('FORBIDDEN', { url, reason: outcome.reason });
  if (outcome?.kind === 'failed') return new Failure('PAGE_LOAD_FAILED', { error: outcome.error });
  // No content, or a download: the browser stays where it was.
  if (errorText === 'net::ERR_ABORTED') {
    const reason =
      outcome?.kind === 'answered' ? `status ${outcome.status}, or a download` : 'no content, or a download';
    return new Failure('PAGE_NOT_PRINTABLE', { reason });
  }
  return new Failure('PAGE_LOAD_FAILED', { error: errorText });
}

function refuseStatus({ status, statusText }: Protocol.Network.Response, failOn: readonly number[]): void {
  if (!matchesStatus(status, failOn)) return;
  throw new Failure('PAGE_STATUS', { code: status, reason: statusText || (STATUS_CODES[status] ?? '') });
}

/** Whether a status is one of these, of which 199, 299, 399, 499 and 599 stand for their whole hundred. */
export function matchesStatus(status: number, codes: readonly number[]): boolean {
  return codes.some(
    code => code === status || (code % 100 === 99 && Math.floor(code / 100) === Math.floor(status / 100)),
  );
}
