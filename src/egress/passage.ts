import { Agent, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { Clock } from '../time/clock.ts';
import { dial } from './dial.ts';
import type { Outcome, Passage, Verdict, VirtualSite } from './egress.ts';
import type { Names } from './names.ts';
import { NAME_NOT_RESOLVED, netError } from './net-error.ts';
import { isOurOwn } from './own-ports.ts';
import type { EgressPolicy } from './policy.ts';
import { OutcomeRecord } from './record.ts';

/** Who judges what passes a door. */
export type DoorPolicy = Pick<EgressPolicy, 'judge' | 'judgeTunnel' | 'byLists' | 'names'>;

export interface DoorOptions {
  readonly policy: DoorPolicy;
  readonly log: Pick<Logger, 'warn' | 'debug'>;
  readonly clock: Clock;
  /** Ports of this machine that no page may reach, besides those of the doors: the service's own API. */
  readonly forbiddenPorts?: readonly number[];
}

/** A request that the agent may only dial at these addresses. */
export interface PinnedRequest extends ClientRequestArgs {
  readonly addresses: readonly string[];
}

export type Reach =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly status: 403 | 502 };

/** So many refusals of one request are logged, each in a line of its own; a page can ask for thousands. */
const LOGGED_REFUSALS = 20;

/** What the door does for one request: judges, dials, keeps the record, and ends it all together. */
export class LanePassage implements Passage {
  readonly site: VirtualSite | undefined;
  readonly policy: DoorPolicy;
  readonly #options: DoorOptions;
  readonly #over = new AbortController();
  readonly #record = new OutcomeRecord();
  readonly #outward = new Set<Socket>();
  readonly #onClose: () => void;
  readonly #parent: AbortSignal;
  #names: Names | undefined;
  #agent: Agent | undefined;
  #wentOutside = false;
  #refusals = 0;

  constructor(visit: { site?: VirtualSite; signal: AbortSignal }, options: DoorOptions, onClose: () => void) {
    this.site = visit.site;
    this.policy = options.policy;
    this.#options = options;
    this.#onClose = onClose;
    this.#parent = visit.signal;
    this.#parent.addEventListener('abort', this.close, { once: true });
  }

  /** Aborts when the passage has ended. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get wentOutside(): boolean {
    return this.#wentOutside;
  }

  outcome(url: string): Outcome | undefined {
    return this.#record.get(url);
  }

  note(url: URL, outcome: Outcome): void {
    if (!this.signal.aborted) this.#record.set(url, outcome);
  }

  /** Something other than the site is asked for, whatever comes of it. */
  leaves(): void {
    this.#wentOutside = true;
  }

  /**
   * Where to connect to for this URL, or how to answer where it may not or can't be: that is on record then.
   * @throws the reason of the passage's end
   */
  async reach(url: URL, kind: 'request' | 'tunnel'): Promise<Reach> {
    this.#names ??= this.policy.names();
    const port = portOf(url);
    const verdict =
      kind === 'request'
        ? await this.policy.judge(url, this.signal, this.#names)
        : await this.policy.judgeTunnel(`${url.hostname}:${port}`, this.signal, this.#names);
    if (!verdict.ok) return this.#turnAway(url, kind, verdict);
    const addresses = verdict.addresses ?? (await this.#names.lookUp(url.hostname, this.signal));
    if (addresses.length === 0) return this.#turnAway(url, kind, { why: 'unresolvable', reason: '' });
    if (isOurOwn(addresses, port, this.#options.forbiddenPorts ?? []))
      return this.#turnAway(url, kind, { why: 'policy', reason: `port ${port} of this machine is the service itself` });
    return { ok: true, addresses };
  }

  /** Records and logs that something was refused. */
  refuse(url: URL, kind: 'request' | 'tunnel', reason: string): void {
    this.note(url, { kind: 'refused', reason });
    if (this.signal.aborted) return;
    this.#refusals += 1;
    const what = kind === 'request' ? 'request blocked' : `CONNECT blocked for '${url.hostname}:${portOf(url)}'`;
    if (this.#refusals <= LOGGED_REFUSALS) this.#options.log.warn(`${what}: ${reason}`);
    if (this.#refusals === LOGGED_REFUSALS) this.#options.log.warn('further refusals of this request are not logged');
  }

  /** Records that a page asked after its time: many do when they are left, so that is nothing to worry about. */
  refuseLate(url: URL): void {
    const reason = 'it comes from the page of an earlier request';
    this.note(url, { kind: 'refused', reason });
    this.#options.log.debug(`request blocked: ${reason}`);
  }

  /** Records that something could not be had. */
  fail(url: URL, error: unknown): void {
    this.note(url, { kind: 'failed', error: netError(error) });
  }

  /**
   * A connection to one of these addresses that ends with the passage at the latest.
   * @throws the network's error, or the reason of the passage's end
   */
  async connect(addresses: readonly string[], port: number): Promise<Socket> {
    const socket = await dial(addresses, port, this.#options.clock, this.signal);
    if (this.signal.aborted) {
      socket.destroy();
      throw this.signal.reason;
    }
    this.#outward.add(socket);
    socket.once('close', () => this.#outward.delete(socket));
    return socket;
  }

  /** Keeps connections to the servers of this request, and of no other. Its requests are `PinnedRequest`s. */
  get agent(): Agent {
    this.#agent ??= new PinnedAgent((addresses, port) => this.connect(addresses, port));
    return this.#agent;
  }

  readonly close = (): void => {
    if (this.signal.aborted) return;
    this.#parent.removeEventListener('abort', this.close);
    this.#over.abort(new Error('the request of this page is over'));
    this.#names?.forget();
    for (const socket of this.#outward) socket.destroy();
    this.#onClose();
  };

  #turnAway(url: URL, kind: 'request' | 'tunnel', { why, reason }: Omit<Verdict & { ok: false }, 'ok'>): Reach {
    if (why === 'policy') this.refuse(url, kind, reason);
    else this.note(url, { kind: 'failed', error: NAME_NOT_RESOLVED });
    return { ok: false, status: why === 'policy' ? 403 : 502 };
  }
}

export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'http:' || url.protocol === 'ws:' ? 80 : 443);
}

class PinnedAgent extends Agent {
  readonly #connect: (addresses: readonly string[], port: number) => Promise<Socket>;

  constructor(connect: (addresses: readonly string[], port: number) => Promise<Socket>) {
    super({ keepAlive: true });
    this.#connect = connect;
  }

  override createConnection(
    { addresses, port }: PinnedRequest,
    done: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const failed = done as (error: Error) => void;
    this.#connect(addresses, Number(port)).then(socket => done(null, socket), failed);
  }
}
