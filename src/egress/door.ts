import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Door, VirtualSite } from './egress.ts';
import { blank, forward, MAX_HEADER_BYTES } from './forward.ts';
import { guardPort } from './own-ports.ts';
import { type DoorOptions, LanePassage } from './passage.ts';
import { answerFromSite } from './site.ts';
import { reply, tunnel, upgrade } from './tunnel.ts';

/**
 * Opens a door: an HTTP proxy on a port of its own on 127.0.0.1. Nothing passes until a request is admitted.
 *
 * What the page of one request still asks for when the next one has been admitted is refused where it can be told: its
 * connections are closed, and a request that names the host of its site (as target, `Origin` or `Referer`) is late. It
 * can't be told of a page that came from elsewhere, or that hides where it is from, on a connection that it makes anew:
 * such a request is judged by the rules like any other and counts as outside. So whoever admits should be about to
 * navigate, and renew what `wentOutside`.
 *
 * Any process of this machine may use a door that is open. It gains nothing: it could connect by itself, and the hosts
 * of sites can't be guessed.
 * @throws what listening throws
 */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const server = createServer({
    // Its one client is an engine of ours, its connections end with the request: no time limit of Node's own.
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
    shouldUpgradeCallback: request => request.headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new LaneDoor(server, options);
}

/** The hosts of this many sites are still known as former ones. */
const FORMER_SITES = 32;

class LaneDoor implements Door {
  readonly address: string;
  readonly #server: Server;
  readonly #options: DoorOptions;
  readonly #guard: Disposable;
  readonly #clients = new Set<Duplex>();
  /** Hosts of earlier requests: who names one comes from a page that should be gone. */
  readonly #former = new Set<string>();
  #passage: LanePassage | undefined;

  constructor(server: Server, options: DoorOptions) {
    this.#server = server;
    this.#options = options;
    const { port } = server.address() as AddressInfo;
    this.address = `127.0.0.1:${port}`;
    this.#guard = guardPort(port);
    server.on('connection', socket => this.#keep(socket));
    server.on('request', (request, response) => this.#request(request, response));
    server.on('connect', (request, client, head) => this.#connect(request, client, head));
    server.on('upgrade', (request, client, head) => this.#upgrade(request, client, head));
    server.on('clientError', (_, client) => client.destroy());
  }

  admit(visit: { site?: VirtualSite; signal: AbortSignal }): LanePassage {
    if (this.#passage) throw new Error('this door is still open for another request');
    // A connection belongs to the request in whose time it was made.
    this.#dropClients();
    const passage = new LanePassage(visit, this.#options, () => this.#closed(passage));
    if (visit.site) this.#former.delete(visit.site.host);
    this.#passage = passage;
    if (visit.signal.aborted) passage.close();
    return passage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#passage?.close();
    this.#guard[Symbol.dispose]();
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    this.#dropClients();
    await closed;
  }

  #closed(passage: LanePassage): void {
    if (this.#passage !== passage) return;
    this.#passage = undefined;
    this.#dropClients();
    if (!passage.site) return;
    this.#former.add(passage.site.host);
    const [oldest] = this.#former;
    if (this.#former.size > FORMER_SITES && oldest !== undefined) this.#former.delete(oldest);
  }

  #keep(socket: Duplex): void {
    this.#clients.add(socket);
    socket.once('close', () => this.#clients.delete(socket));
  }

  #dropClients(): void {
    for (const socket of this.#clients) socket.destroy();
    this.#clients.clear();
  }

  #request(request: IncomingMessage, response: ServerResponse): void {
    const url = absolute(request);
    const passage = this.#passage;
    if (!passage) blank(response, 403);
    else if (!url) blank(response, 400);
    else if (url.host === passage.site?.host) this.#serve(request, response, { url, passage, site: passage.site });
    else if (this.#isOutside(request, url, passage)) {
      forward(request, response, url, passage).catch(err => this.#broken(err, response, passage));
    } else blank(response, 403);
  }

  #serve(
    request: IncomingMessage,
    response: ServerResponse,
    { url, passage, site }: { url: URL; passage: LanePassage; site: VirtualSite },
  ): void {
    const tell = (status: number) =>
      passage.note(url, { kind: 'answered', status, statusText: STATUS_CODES[status] ?? '' });
    answerFromSite(request, response, { site, pathname: url.pathname, tell }).catch(err =>
      this.#broken(err, response, passage),
    );
  }

  #connect(request: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on('error', () => client.destroy());
    const passage = this.#passage;
    passage?.leaves();
    if (passage && !this.#isLate(`http://${request.url}`)) {
      tunnel(request.url ?? '', client, head, passage).catch(err => this.#broken(err, client, passage));
    } else reply(client, '403 Forbidden');
  }

  #upgrade(request: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on('error', () => client.destroy());
    const url = absolute(request);
    const passage = this.#passage;
    if (passage && url && this.#isOutside(request, url, passage)) {
      upgrade(request, client, head, { url, passage }).catch(err => this.#broken(err, client, passage));
    } else reply(client, '403 Forbidden');
  }

  /** Whether a request may be passed on as one of this passage's page; what it asks for is judged later. */
  #isOutside(request: IncomingMessage, url: URL, passage: LanePassage): boolean {
    passage.leaves();
    const late = this.#isLate(url.href, request.headers.origin, request.headers.referer);
    if (late) passage.refuseLate(url);
    return !late;
  }

  /** Whatever was thrown because the request is over, or the page has lost interest, is no news. */
  #broken(err: unknown, client: ServerResponse | Duplex, passage: LanePassage): void {
    if (!passage.signal.aborted && !client.destroyed)
      this.#options.log.warn({ err }, 'a request of a page could not be served');
    client.destroy();
  }

  #isLate(...urls: (string | undefined)[]): boolean {
    if (this.#former.size === 0) return false;
    return urls.some(url => url !== undefined && this.#former.has(URL.parse(url)?.hostname ?? ''));
  }
}

/** What a proxy is asked for: an absolute `http:` URL. Everything else comes as a CONNECT, or not from an engine. */
function absolute(request: IncomingMessage): URL | null {
  const url = URL.parse(request.url ?? '');
  return url?.protocol === 'http:' ? url : null;
}
