import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { settle } from '../helpers/fake-clock.ts';
import { within } from '../helpers/within.ts';
import { ended, fetchThrough, heard, isEnded, lane, origin, saying, until } from './lane.ts';

let undo: AsyncDisposableStack;
beforeEach(() => {
  undo = new AsyncDisposableStack();
});
afterEach(() => undo.disposeAsync());

const open = async (...options: Parameters<typeof lane>) => undo.use(await lane(...options));

/** A TLS record's first bytes, as far as a proxy can tell. */
const TLS = '\x16\x03\x01';
const ask = (target: string) => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const websocket = (target: string) =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a2V5\r\n\r\n`;

/** A plain TCP server; what it was sent, and what became of its connections. */
async function plainServer(greet: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket.on('error', () => {}));
    greet(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.defer(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as { port: number }).port, sockets };
}

/** A server that takes every WebSocket and sends back what it gets. */
async function echo() {
  const server = undo.use(await origin((_, response) => response.writeHead(426).end('no socket, no talk')));
  const sockets: Socket[] = [];
  server.server.on('upgrade', (request, socket, head) => {
    if (request.url === '/refused') return void socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno');
    const accept = createHash('sha1').update(String(request.headers['sec-websocket-key'])).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.on('error', () => {});
    socket.write(head);
    socket.pipe(socket);
    sockets.push(socket as Socket);
  });
  return { ...server, sockets };
}

describe('a tunnel', () => {
  test('carries bytes both ways, and each side may end first', async () => {
    const { port } = await plainServer(socket => {
      socket.on('data', bytes => socket.write(`got ${bytes.length};`));
      socket.on('end', () => socket.end('bye'));
    });
    const { door, admit } = await open({ hosts: { 'secure.example': ['127.0.0.1'] } });
    const passage = admit();
    const client = await saying(door, ask(`secure.example:${port}`));
    expect(await heard(client, '\r\n\r\n')).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
    client.write(`${TLS}abc`);
    expect(await heard(client, ';')).toBe('got 6;');
    client.end();
    expect(await heard(client, 'bye')).toBe('bye');
    await ended(client, 'the connection');
    expect(passage.wentOutside).toBe(true);
    expect(passage.outcome(`https://secure.example:${port}/any/path?x#y`)).toEqual({ kind: 'tunnelled' });
    expect(passage.outcome(`wss://secure.example:${port}/`)).toEqual({ kind: 'tunnelled' });
    expect(passage.outcome('https://secure.example/')).toBeUndefined();
  });

  test('loses nothing where the client ends with a lot still on its way', async () => {
    let got = 0;
    const all = Promise.withResolvers<void>();
    const { port } = await plainServer(socket => {
      socket.end();
      socket.on('data', bytes => {
        got += bytes.length;
        socket.pause();
        setImmediate(() => socket.resume());
      });
      socket.on('end', all.resolve);
    });
    const { door, admit } = await open();
    admit();
    const client = await saying(door, ask(`127.0.0.1:${port}`));
    await heard(client, '\r\n\r\n');
    client.end(TLS + 'x'.repeat(4_000_000));
    await within(10_000, 'all that was sent', all.promise);
    expect(got).toBe(4_000_003);
  });

  test('takes what comes together with the request for it', async () => {
    const { port } = await plainServer(socket => socket.pipe(socket));
    const { door, admit } = await open();
    admit();
    const client = await saying(door, `${ask(`127.0.0.1:${port}`)}${TLS}early`);
    expect(await heard(client, 'early')).toContain(`${TLS}early`);
    client.destroy();
  });

  test('ends on one side when the other breaks', async () => {
    const { port, sockets } = await plainServer(socket => socket.pipe(socket));
    const { door, admit } = await open();
    admit();
    const left = await saying(door, `${ask(`127.0.0.1:${port}`)}${TLS}one`);
    await heard(left, 'one');
    left.resetAndDestroy();
    await until('the server to see it', () => sockets.length === 1 && isEnded(sockets[0] as Socket));
    const dropped = await saying(door, `${ask(`127.0.0.1:${port}`)}${TLS}two`);
    dropped.on('error', () => {});
    await heard(dropped, 'two');
    sockets[1]?.resetAndDestroy();
    await ended(dropped, 'the connection');
  });

  test('ends when the server has left before a word was said in it', async () => {
    const { port, sockets } = await plainServer(socket => socket.resume());
    const { door, admit } = await open();
    admit();
    const client = await saying(door, ask(`127.0.0.1:${port}`));
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    await until('the server to be there', () => sockets.length === 1);
    sockets[0]?.resetAndDestroy();
    await settle();
    client.write(TLS);
    await ended(client, 'the connection');
  });

  test('ends with its request, also before a word was said in it', async () => {
    const { port, sockets } = await plainServer(socket => socket.resume());
    const { door, admit } = await open();
    const passage = admit();
    const silent = await saying(door, ask(`127.0.0.1:${port}`));
    const talking = await saying(door, `${ask(`127.0.0.1:${port}`)}${TLS}`);
    for (const client of [silent, talking]) {
      client.on('error', () => {});
      await heard(client, '\r\n\r\n');
    }
    passage.close();
    for (const client of [silent, talking]) await ended(client, 'the connection');
    await until('the server to see it', () => sockets.length === 2 && sockets.every(isEnded));
  });

  test('to a forbidden address is refused, and the log says so', async () => {
    const { port, sockets } = await plainServer(() => {});
    const { door, admit, lines } = await open({ rules: { denyPrivateIps: true } });
    const passage = admit();
    const client = await saying(door, ask(`127.0.0.1:${port}`));
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    const reason = `'https://127.0.0.1:${port}/' targets a non-public address`;
    expect(passage.outcome(`https://127.0.0.1:${port}/a`)).toEqual({ kind: 'refused', reason });
    expect(lines).toEqual([`CONNECT blocked for '127.0.0.1:${port}': ${reason}`]);
    expect(sockets).toEqual([]);
    client.destroy();
  });

  test('never leads to a door, not even this one', async () => {
    const { door, admit } = await open();
    admit();
    const client = await saying(door, ask(door.address));
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    client.destroy();
  });

  test('that can not be had is recorded as Chromium would call it', async () => {
    const gone = await origin(() => {});
    await gone[Symbol.asyncDispose]();
    const { door, admit } = await open();
    const passage = admit();
    for (const [target, error] of [
      [`127.0.0.1:${gone.port}`, 'net::ERR_CONNECTION_REFUSED'],
      ['nowhere.example:443', 'net::ERR_NAME_NOT_RESOLVED'],
    ]) {
      const client = await saying(door, ask(target ?? ''));
      expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 502 /);
      expect(passage.outcome(`https://${target}/`)).toEqual({ kind: 'failed', error });
      client.destroy();
    }
    expect(passage.outcome('https://nowhere.example/index.html')).toMatchObject({ kind: 'failed' });
  });

  test.each([
    '',
    'example.com',
    'example.com:',
    'example.com:https',
    'a@b:1',
    'a/b:1',
    'a b:1',
    '[::1:1',
    'example.com:99999',
  ])("to '%s' is a bad request", async target => {
    const { door, admit } = await open();
    admit();
    const client = await saying(door, ask(target));
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 |^$/);
    client.destroy();
  });

  test('to the virtual site is refused: its files are served over http only', async () => {
    const { door, admit } = await open();
    const passage = admit({ site: { host: 'site.localhost', find: () => undefined } });
    const client = await saying(door, ask('site.localhost:80'));
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(passage.outcome('https://site.localhost:80/')).toMatchObject({ kind: 'refused' });
    client.destroy();
  });
});

describe('a plain WebSocket, for which browsers ask for a tunnel', () => {
  test('is judged by its whole URL when that is seen', async () => {
    const { port, connections } = await echo();
    const rules = { denyList: [/^ws:\/\/127\.0\.0\.1:\d+\/secret/] };
    const { door, admit, lines } = await open({ rules });
    const passage = admit();
    const fine = await saying(door, ask(`127.0.0.1:${port}`));
    await heard(fine, '\r\n\r\n');
    fine.write(websocket('/chat'));
    expect(await heard(fine, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 101 /);
    fine.write('hello');
    expect(await heard(fine, 'hello')).toBe('hello');
    const denied = await saying(door, ask(`127.0.0.1:${port}`));
    await heard(denied, '\r\n\r\n');
    denied.write(websocket('/secret/chat'));
    expect(await heard(denied, '101')).toBe('');
    expect(passage.outcome(`ws://127.0.0.1:${port}/secret/chat`)).toMatchObject({ kind: 'refused' });
    expect(lines.join()).toContain(`'ws://127.0.0.1:${port}/secret/chat' matches the expression from the denied list`);
    await until('the refused one to be closed', () => connections.now === 1);
    fine.destroy();
  });

  test('that alone is allowed does not open the way for TLS', async () => {
    const { port, sockets } = await plainServer(socket => socket.resume());
    const { door, admit } = await open({ rules: { allowList: [/^ws:/] } });
    admit();
    const client = await saying(door, `${ask(`127.0.0.1:${port}`)}${TLS}`);
    await heard(client, 'nothing more');
    await until('the connection to be closed', () => sockets.length === 1 && isEnded(sockets[0] as Socket));
    expect(sockets[0]?.bytesRead).toBe(0);
  });

  test('is the only thing besides TLS that a tunnel carries', async () => {
    const { port, sockets } = await plainServer(socket => socket.resume());
    const { door, admit } = await open();
    admit();
    const client = await saying(door, `${ask(`127.0.0.1:${port}`)}HELO mail\r\n`);
    await heard(client, 'nothing more');
    await until('the connection to be closed', () => sockets.length === 1 && isEnded(sockets[0] as Socket));
    expect(sockets[0]?.bytesRead).toBe(0);
  });
});

describe('a WebSocket that is asked for without a tunnel', () => {
  test('is passed on', async () => {
    const { port } = await echo();
    const { door, admit } = await open();
    const passage = admit();
    const url = `http://127.0.0.1:${port}/chat`;
    const client = await saying(door, websocket(url));
    const answer = await heard(client, '\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(answer).toMatch(/Upgrade: websocket\r\n/);
    expect(answer).toContain(`Sec-WebSocket-Accept: ${createHash('sha1').update('a2V5').digest('base64')}\r\n`);
    client.write('hello');
    expect(await heard(client, 'hello')).toBe('hello');
    expect(passage.outcome(url)).toEqual({ kind: 'answered', status: 101, statusText: 'Switching Protocols' });
    client.destroy();
  });

  test('that the server does not want is told so', async () => {
    const { port } = await echo();
    const { door, admit } = await open();
    const passage = admit();
    const url = `http://127.0.0.1:${port}/refused`;
    const client = await saying(door, websocket(url));
    expect(await heard(client, 'no')).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n[\s\S]*\r\n\r\nno$/);
    expect(passage.outcome(url)).toMatchObject({ kind: 'answered', status: 401 });
  });

  test('ends with its request', async () => {
    const { port, connections } = await echo();
    const { door, admit } = await open();
    const passage = admit();
    const client = await saying(door, websocket(`http://127.0.0.1:${port}/`));
    client.on('error', () => {});
    await heard(client, '\r\n\r\n');
    passage.close();
    await ended(client, 'the connection');
    await until('the server to see it', () => connections.now === 0);
  });

  test.each([
    ['as ws', { denyList: [/^ws:/] }],
    ['as http', { denyList: [/^http:/] }],
    ['by its address', { denyPrivateIps: true }],
  ])('is refused where it is forbidden %s', async (_, rules) => {
    const { port, connections } = await echo();
    const { door, admit } = await open({ rules });
    admit();
    const client = await saying(door, websocket(`http://127.0.0.1:${port}/`));
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(connections.ever).toBe(0);
    client.destroy();
  });

  test('that can not be had is a 502', async () => {
    const { door, admit } = await open();
    const passage = admit();
    const client = await saying(door, websocket('http://nowhere.example/'));
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 502 /);
    expect(passage.outcome('http://nowhere.example/')).toEqual({ kind: 'failed', error: 'net::ERR_NAME_NOT_RESOLVED' });
    client.destroy();
  });

  test('is nothing that a request for another protocol gets: that is passed on without the wish', async () => {
    const { port } = undo.use(await origin((request, response) => response.end(`upgrade: ${request.headers.upgrade}`)));
    const { door, admit } = await open();
    admit();
    const headers = { connection: 'Upgrade', upgrade: 'h2c' };
    expect(await fetchThrough(door, `http://127.0.0.1:${port}/`, { headers })).toMatchObject({
      body: 'upgrade: undefined',
    });
  });
});
