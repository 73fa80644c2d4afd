import type { Clock } from '../../src/time/clock.ts';
import type { Lane } from './lane.ts';

export interface LanePoolOptions {
  /** Lanes at once, those included that are being opened or closed. */
  readonly most: number;
  open(): Promise<Lane>;
  readonly clock: Clock;
}

/** A lane that nobody has wanted for so long leaves its last page, in ms. */
const REST_AFTER_MS = 1000;

interface Waiter {
  resolve(lane: Lane): void;
  reject(error: unknown): void;
}

/**
 * The lanes of one browser. There is always one more than are in use, up to the limit: opened ahead, so that a request
 * finds it ready.
 */
export class LanePool {
  readonly #options: LanePoolOptions;
  /** The one that was used last is used next, so that the others can rest. */
  readonly #idle: Lane[] = [];
  readonly #resting = new Map<Lane, () => void>();
  readonly #waiting: Waiter[] = [];
  readonly #all = new Map<string, Lane>();
  #opening = 0;
  #closing = 0;
  #closed: Error | undefined;

  constructor(options: LanePoolOptions) {
    this.#options = options;
  }

  /**
   * A lane for one page. Give it back with `release`, or with `discard` if its page may still be at work.
   * @throws the signal's reason; what opening a lane throws; what the pool was closed with
   */
  async take(signal: AbortSignal): Promise<Lane> {
    signal.throwIfAborted();
    if (this.#closed) throw this.#closed;
    const { promise, resolve, reject } = Promise.withResolvers<Lane>();
    const waiter = { resolve, reject };
    const giveUp = () => {
      const place = this.#waiting.indexOf(waiter);
      if (place >= 0) this.#waiting.splice(place, 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.push(waiter);
    this.#serve();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Cleans a lane for the next page, or closes it where it can't be; settles when that is done. */
  async release(lane: Lane): Promise<void> {
    if (await lane.clean()) this.#offer(lane, true);
    else await this.discard(lane);
  }

  /** Closes a lane, whatever its page does; settles when nothing of it is left. */
  async discard(lane: Lane): Promise<void> {
    if (!this.#all.delete(lane.contextId)) return;
    this.#closing += 1;
    await lane.close().finally(() => {
      this.#closing -= 1;
    });
    this.#serve();
  }

  /** The lane of a browser context, for news about it. */
  of(contextId: string | undefined): Lane | undefined {
    return contextId === undefined ? undefined : this.#all.get(contextId);
  }

  /** No lane is given out any more. Their ways out are closed; the tabs end with their browser. */
  async close(error: Error): Promise<void> {
    this.#closed ??= error;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
    for (const stop of this.#resting.values()) stop();
    this.#idle.length = 0;
    await Promise.allSettled([...this.#all.values()].map(lane => this.discard(lane)));
  }

  #offer(lane: Lane, tired: boolean): void {
    if (this.#closed) return void this.discard(lane);
    this.#idle.push(lane);
    if (tired) {
      this.#resting.set(
        lane,
        this.#options.clock.after(REST_AFTER_MS, () => void this.#rest(lane)),
      );
    }
    this.#serve();
  }

  async #rest(lane: Lane): Promise<void> {
    if (!this.#withdraw(lane)) return;
    if (await lane.rest()) this.#offer(lane, false);
    else await this.discard(lane);
  }

  #withdraw(lane: Lane): boolean {
    this.#resting.get(lane)?.();
    this.#resting.delete(lane);
    const place = this.#idle.lastIndexOf(lane);
    if (place >= 0) this.#idle.splice(place, 1);
    return place >= 0;
  }

  /** Gives idle lanes to those who wait, and opens as many as are missing. */
  #serve(): void {
    for (const lane of this.#idle.filter(idle => !idle.usable)) {
      this.#withdraw(lane);
      void this.discard(lane);
    }
    while (this.#waiting.length > 0) {
      const lane = this.#idle.at(-1);
      if (!lane) break;
      this.#withdraw(lane);
      this.#waiting.shift()?.resolve(lane);
    }
    const wanted = this.#waiting.length + 1;
    while (!this.#closed && this.#idle.length + this.#opening < wanted && this.#total < this.#options.most) {
      void this.#open();
    }
  }

  get #total(): number {
    return this.#all.size + this.#opening + this.#closing;
  }

  async #open(): Promise<void> {
    this.#opening += 1;
    try {
      const lane = await this.#options.open();
      this.#opening -= 1;
      this.#all.set(lane.contextId, lane);
      this.#offer(lane, false);
    } catch (error) {
      this.#opening -= 1;
      // One lane that can't be had is one page's misfortune; the next one tries again.
      this.#waiting.shift()?.reject(error);
      if (this.#waiting.length > 0) this.#serve();
    }
  }
}
