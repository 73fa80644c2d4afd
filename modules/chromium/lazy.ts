import type { Protocol } from 'puppeteer';
import { EngineCrash } from '../../src/supervise/types.ts';
import type { Visit } from './visit.ts';

/**
 * Sees to pictures and frames with `loading="lazy"`, for which the load event doesn't wait. Printing itself fetches what
 * is far from the window and waits for it, but not for what is already on its way: whether that is printed would be a
 * matter of luck. So this waits for what is on its way; and frames, which printing leaves out, are fetched now.
 */
export class LazyContent implements Disposable {
  readonly #visit: Visit;
  readonly #coming = new Map<string, string>();

  /** Make it before navigating: it has to see every request. */
  constructor(visit: Visit) {
    this.#visit = visit;
    visit.tab.on('Network.requestWillBeSent', this.#asked);
    visit.tab.on('Network.loadingFinished', this.#settled);
    visit.tab.on('Network.loadingFailed', this.#settled);
  }

  /** Settles when nothing lazy is on its way any more. */
  async loaded(): Promise<void> {
    try {
      // The browser asks for what is near the window a frame or two after the load event, not with it.
      const { result } = await this.#evaluate(`(${UNLOADED})()`);
      if (result.value === true) await this.#evaluate(`(${WAIT_FOR})(${JSON.stringify([...this.#coming.values()])})`);
    } catch (error) {
      // The page goes elsewhere in this moment: there is another document to look at.
      if (this.#visit.signal.aborted || error instanceof EngineCrash) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#visit.tab.off('Network.requestWillBeSent', this.#asked);
    this.#visit.tab.off('Network.loadingFinished', this.#settled);
    this.#visit.tab.off('Network.loadingFailed', this.#settled);
  }

  #evaluate(expression: string): Promise<Protocol.Runtime.EvaluateResponse> {
    return this.#visit.send('Runtime.evaluate', { expression, awaitPromise: true });
  }

  readonly #asked = ({ type, requestId, request }: Protocol.Network.RequestWillBeSentEvent): void => {
    if (type === 'Image') this.#coming.set(requestId, request.url);
  };

  readonly #settled = ({ requestId }: { requestId: string }): void => {
    this.#coming.delete(requestId);
  };
}

/*
 * These two run in the page. A frame starts with about:blank, which can be looked at; what it loads often can't.
 */

/** Whether there is anything lazy that has not been loaded. */
const UNLOADED = `() => {
  const frames = document.querySelectorAll('iframe[loading=lazy i]');
  const pictures = [...document.querySelectorAll('img[loading=lazy i]')].filter(picture => !picture.complete);
  if (frames.length + pictures.length === 0) return false;
  const shown = new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return Promise.race([shown, new Promise(resolve => window.setTimeout(resolve, 200))]).then(() => true);
}`;

const WAIT_FOR = `coming => {
  const end = element => new Promise(resolve => {
    for (const event of ['load', 'error']) element.addEventListener(event, resolve);
  });
  const pictures = [...document.querySelectorAll('img[loading=lazy i]')]
    .filter(picture => !picture.complete && coming.includes(picture.currentSrc || picture.src));
  const frames = [...document.querySelectorAll('iframe[loading=lazy i]')]
    .filter(frame => frame.getAttribute('src') && frame.contentDocument?.URL === 'about:blank');
  const ends = [...pictures, ...frames].map(end);
  for (const frame of frames) frame.loading = 'eager';
  return Promise.all(ends).then(() => {});
}`;
