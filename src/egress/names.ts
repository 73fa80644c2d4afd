import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Clock } from '../time/clock.ts';

/** All addresses of a host name, in the order to try them. Rejects, or gives none, where there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** As every other program of the machine resolves: hosts file, then DNS. */
export const systemResolve: Resolve = async host => (await lookup(host, { all: true })).map(found => found.address);

/** What a name is remembered for: a page asks for the same few hosts again and again, within seconds. */
const FRESH_MS = 30_000;
/** A page that waits for a dead name server is better printed without the picture than not at all. */
const PATIENCE_MS = 10_000;
/** The system's resolver works on few names at once, for the whole process: one page full of dead names must not fill it. */
const AT_ONCE = 2;

/** Resolves host names for one request: remembers them shortly, and asks for few at a time. */
export class Names {
  readonly #resolve: Resolve;
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly since: number; readonly addresses: Promise<readonly string[]> }>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(resolve: Resolve, clock: Clock) {
    this.#resolve = resolve;
    this.#clock = clock;
  }

  /**
   * All addresses of a name or of an address literal (IPv6 with or without brackets), none where it has none.
   * @throws the signal's reason as soon as it aborts
   */
  async lookUp(host: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    const literal = host.startsWith('[') ? host.slice(1, -1) : host;
    if (isIP(literal)) return [literal];
    const name = literal.replace(/\.$/, '');
    if (isLocalhost(name)) return ['127.0.0.1', '::1'];
    return await orAborted(this.#remembered(name), signal);
  }

  #remembered(name: string): Promise<readonly string[]> {
    const known = this.#known.get(name);
    if (known && this.#clock.now() - known.since < FRESH_MS) return known.addresses;
    const addresses = this.#ask(name);
    this.#known.set(name, { since: this.#clock.now(), addresses });
    return addresses;
  }

  async #ask(name: string): Promise<readonly string[]> {
    if (this.#busy >= AT_ONCE) await new Promise<void>(go => this.#waiting.push(go));
    else this.#busy += 1;
    const answer = this.#resolve(name).catch((): readonly string[] => []);
    // Its place is taken until the resolver is really done with it; nobody has to wait that long.
    void answer.finally(() => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy -= 1;
    });
    return await this.#inTime(answer);
  }

  /** Names that nobody waits for any more are never asked for. */
  forget(): void {
    this.#waiting.length = 0;
  }

  #inTime(answer: Promise<readonly string[]>): Promise<readonly string[]> {
    return new Promise(settle => {
      const cancel = this.#clock.after(PATIENCE_MS, () => settle([]));
      void answer.then(addresses => {
        cancel();
        settle(addresses);
      });
    });
  }
}

/** Never asks a name server for it (RFC 6761, 6.3), as browsers do. */
function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
