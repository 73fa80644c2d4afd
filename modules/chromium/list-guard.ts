import type { Logger } from 'pino';
import type { Connection } from 'puppeteer';
import type { Verdict } from '../../src/egress/egress.ts';
import { type DoorPolicy, portOf } from '../../src/egress/passage.ts';
import type { EgressPolicy } from '../../src/egress/policy.ts';

/** More hosts than this are forgotten all at once; those still in use are judged anew with their next request. */
const MOST_ADMITTED = 1000;
const ALLOWED: Verdict = { ok: true, addresses: undefined };

/**
 * Has the operator's lists judge every https URL as a whole, of all pages, frames and workers of a browser. A door sees
 * only the host of what goes through a tunnel, so an allow list that speaks of paths would never let one open; it follows
 * what was admitted here. Costs a round trip for each request, so it is for browsers whose operator has lists.
 */
export class ListGuard implements DoorPolicy {
  readonly #policy: EgressPolicy;
  readonly #log: Pick<Logger, 'warn'>;
  /** Hosts and ports of URLs that an allow list has let pass. */
  readonly #admitted = new Set<string>();

  constructor(policy: EgressPolicy, log: Pick<Logger, 'warn'>) {
    this.#policy = policy;
    this.#log = log;
  }

  /** Judges what the browser asks for from now on. */
  async watch(connection: Connection): Promise<void> {
    connection.on('Fetch.requestPaused', ({ requestId, request }) => {
      const answer = this.#admits(request.url)
        ? connection.send('Fetch.continueRequest', { requestId })
        : connection.send('Fetch.failRequest', { requestId, errorReason: 'AccessDenied' });
      answer.catch(() => {}); // its page has gone
    });
    await connection.send('Fetch.enable', { patterns: [{ urlPattern: 'https://*' }] });
  }

  names(): ReturnType<DoorPolicy['names']> {
    return this.#policy.names();
  }

  judge(...of: Parameters<DoorPolicy['judge']>): Promise<Verdict> {
    return this.#policy.judge(...of);
  }

  async judgeTunnel(...of: Parameters<DoorPolicy['judgeTunnel']>): Promise<Verdict> {
    const [authority] = of;
    return this.#admitted.has(authority) ? ALLOWED : this.#policy.judgeTunnel(...of);
  }

  byLists(url: URL): Verdict | undefined {
    return url.protocol === 'https:' && this.#admitted.has(authorityOf(url)) ? ALLOWED : this.#policy.byLists(url);
  }

  #admits(text: string): boolean {
    const url = URL.parse(text);
    const verdict = url ? this.#policy.byLists(url) : undefined;
    if (!url || verdict?.ok === false) {
      this.#log.warn(`request blocked: ${verdict?.ok === false ? verdict.reason : 'its URL can’t be read'}`);
      return false;
    }
    if (verdict?.ok) {
      if (this.#admitted.size >= MOST_ADMITTED) this.#admitted.clear();
      this.#admitted.add(authorityOf(url));
    }
    return true;
  }
}

function authorityOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}
