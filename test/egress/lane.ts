import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { openDoor } from '../../src/egress/door.ts';
import type { EgressRules, VirtualSite } from '../../src/egress/egress.ts';
import { EgressPolicy } from '../../src/egress/policy.ts';
import { systemClock } from '../../src/time/clock.ts';
import { within } from '../helpers/within.ts';

export interface LaneOptions {
  readonly rules?: Partial<EgressRules>;
  /** Addresses by host name; all else is not found. */
  readonly hosts?: Readonly<Record<string, readonly string[]>>;
  readonly forbiddenPorts?: readonly number[];
}

/** A door with what its log has heard. */
export async function lane({ rules, hosts = {}, forbiddenPorts }: LaneOptions = {}) {
  const lines: string[] = [];
  const whispers: string[] = [];
  const asked: string[] = [];
  const all = { allowList: [], denyList: [], denyPrivateIps: false, denyPublicIps: false, ...rules };
  const resolve = async (host: string) => {
    asked.push(host);
    return hosts[host] ?? [];
  };
  const policy = new EgressPolicy(all, { clock: systemClock, resolve });
  const log = {
    warn: (...said: unknown[]) => void lines.push(said.map(String).join(' ')),
    debug: (...said: unknown[]) => void whispers.push(said.map(String).join(' ')),
  };
  const door = await openDoor({ policy, log, clock: systemClock, ...(forbiddenPorts && { forbiddenPorts }) });
  const admit = (visit: { site?: VirtualSite; signal?: AbortSignal } = {}) =>
    door.admit({ signal: new AbortController().signal, ...visit });
  return { door, admit, lines, whispers, asked, [Symbol.asyncDispose]: () => door[Symbol.asyncDispose]() };
}

/** A web server on 127.0.0.1, cut off at its end. */
export async function origin(listener: RequestListener) {
  const server: Server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connections = { now: 0, ever: 0 };
  server.on('connection', socket => {
    connections.now += 1;
    connections.ever += 1;
    socket.once('close', () => {
      connections.now -= 1;
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    connections,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export interface Fetched {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a browser gets that asks this door for a URL. */
export async function fetchThrough(
  { address }: { address: string },
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Fetched> {
  const [host, port] = address.split(':');
  const asking = request({
    host,
    port,
    method,
    path: url,
    headers: { host: new URL(url).host, ...headers },
    agent: false,
  });
  asking.end(body);
  const [answer] = await within(5000, `an answer for ${url}`, once(asking, 'response'));
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: await within(5000, `the body of ${url}`, text(answer)),
  };
}

/** A connection to the door that has said this. */
export async function saying({ address }: { address: string }, head: string): Promise<Socket> {
  const [host, port] = address.split(':');
  const socket = connect({ host: host ?? '', port: Number(port), allowHalfOpen: true });
  await within(2000, 'the door', once(socket, 'connect'));
  socket.write(head);
  return socket;
}

/** What arrives until it contains `end`, or until the other side ends. */
export async function heard(socket: Socket, end: string): Promise<string> {
  let so = '';
  const enough = (async () => {
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
      so += bytes;
      if (so.includes(end)) break;
    }
  })();
  await within(5000, `'${end}', got '${so}'`, enough);
  return so;
}

/** Waits until the other side has ended this connection, in good order or not. */
export async function ended(socket: Socket, what: string): Promise<void> {
  socket.on('error', () => {}).resume();
  await until(`${what} to be ended`, () => isEnded(socket));
  socket.destroy();
}

export function isEnded(socket: Socket): boolean {
  return socket.readableEnded || socket.closed;
}

/** Waits until something is so; for what the other side of a socket sees a moment later. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const turning = (async () => {
    while (!isSo()) await new Promise(resolve => setImmediate(resolve));
  })();
  await within(5000, what, turning);
}
