import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { pinnedRequest } from './forward.ts';
import { endToEnd, pairs } from './headers.ts';
import { type LanePassage, portOf } from './passage.ts';

/**
 * Answers a CONNECT: judges host and port, dials, and passes bytes both ways until both sides have ended.
 * @throws the reason of the passage's end
 */
export async function tunnel(authority: string, client: Duplex, head: Buffer, passage: LanePassage): Promise<void> {
  const url = AUTHORITY.test(authority) ? URL.parse(`https://${authority}/`) : null;
  if (!url) return reply(client, '400 Bad Request');
  if (url.hostname === passage.site?.host) {
    passage.refuse(url, 'tunnel', 'the files of a request are served over http only');
    return reply(client, '403 Forbidden');
  }
  const server = await reached(url, client, passage);
  if (!server) return;

  passage.note(url, { kind: 'tunnelled' });
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  const first = head.length > 0 ? head : await firstBytes(client);
  const reason = first && unfit(first, url, passage);
  if (reason) passage.refuse(url, 'tunnel', reason);
  if (!first || reason) {
    server.destroy();
    client.destroy();
    return;
  }
  server.write(first);
  splice(client, server);
}

/**
 * Passes on a WebSocket that a client asks for without a tunnel, as an absolute `http:` URL with `Upgrade: websocket`.
 * @throws the reason of the passage's end
 */
export async function upgrade(
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
  { url, passage }: { url: URL; passage: LanePassage },
): Promise<void> {
  const socketUrl = new URL(url.href.replace(/^http:/, 'ws:'));
  const verdict = passage.policy.byLists(socketUrl);
  if (url.hostname === passage.site?.host || verdict?.ok === false) {
    passage.refuse(url, 'request', verdict?.ok === false ? verdict.reason : 'a virtual site has no WebSockets');
    return reply(client, '403 Forbidden');
  }
  const reach = await passage.reach(url, 'request');
  if (!reach.ok) return reply(client, STATUS_LINES[reach.status]);

  const pinned = pinnedRequest(request, url, reach.addresses, passage);
  const headers = [...(pinned.headers as string[]), 'Connection', 'Upgrade', 'Upgrade', 'websocket'];
  const upstream = httpRequest({ ...pinned, headers });
  const abandon = () => upstream.destroy();
  client.once('close', abandon);
  upstream.on('error', error => {
    passage.fail(url, error);
    reply(client, STATUS_LINES[502]);
  });
  upstream.once('response', answer => {
    note(answer);
    client.write(headOf(answer, ['Connection', 'close']));
    answer.on('error', () => client.destroy()).pipe(client);
  });
  upstream.once('upgrade', (answer, server, early) => {
    note(answer);
    client.off('close', abandon);
    client.write(headOf(answer, ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? 'websocket']));
    client.write(early);
    server.write(head);
    splice(client, server);
  });
  upstream.end();

  function note(answer: IncomingMessage): void {
    passage.note(url, {
      kind: 'answered',
      status: answer.statusCode ?? 0,
      statusText: answer.statusMessage ?? '',
    });
  }
}

const AUTHORITY = /^(?:\[[\da-f:.]+\]|[^\s:/?#@[\]\\%]+):\d{1,5}$/i;

async function reached(url: URL, client: Duplex, passage: LanePassage): Promise<Duplex | undefined> {
  const reach = await passage.reach(url, 'tunnel');
  if (!reach.ok) return void reply(client, STATUS_LINES[reach.status]);
  try {
    const server = await passage.connect(reach.addresses, portOf(url));
    server.on('error', () => {});
    if (!client.destroyed) return server;
    server.destroy();
  } catch (error) {
    passage.fail(url, error);
    reply(client, STATUS_LINES[502]);
  }
}

const STATUS_LINES = { 403: '403 Forbidden', 502: '502 Bad Gateway' } as const;

export function reply(client: Duplex, status: string): void {
  if (!client.destroyed) client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

/** What the client says first in its tunnel, undefined if it leaves without a word. */
function firstBytes(client: Duplex): Promise<Buffer | undefined> {
  return new Promise(resolve => {
    client.once('data', (bytes: Buffer) => {
      client.pause();
      resolve(bytes);
    });
    client.once('end', () => resolve(undefined));
    client.once('close', () => resolve(undefined));
  });
}

/**
 * Why a tunnel may not carry what it is about to carry: the lists know whole URLs, and of a plain WebSocket the whole URL
 * is seen at last. Of TLS nothing more is ever seen than host and port.
 */
function unfit(first: Buffer, tunnelUrl: URL, passage: LanePassage): string | undefined {
  const url = first[0] === TLS_HANDSHAKE ? tunnelUrl : plainUrl(first, tunnelUrl);
  if (!url) return 'the tunnel carries neither TLS nor a WebSocket';
  const verdict = passage.policy.byLists(url);
  return verdict?.ok === false ? verdict.reason : undefined;
}

const TLS_HANDSHAKE = 0x16;

function plainUrl(first: Buffer, tunnelUrl: URL): URL | null {
  const path = /^GET (\/\S*) HTTP\/1\.1\r\n/.exec(first.toString('latin1'))?.[1];
  return path === undefined ? null : URL.parse(`ws://${tunnelUrl.hostname}:${portOf(tunnelUrl)}${path}`);
}

function headOf(answer: IncomingMessage, connection: readonly string[]): Buffer {
  const headers = pairs([...endToEnd(answer.rawHeaders), ...connection]).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${headers.join('')}\r\n`, 'latin1');
}

/** Joins two connections; either side may end its half first. What breaks on one side breaks the other. */
function splice(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  for (const [ended, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    ended.on('error', () => peer.destroy());
    if (ended.destroyed) peer.destroy();
  }
}
