import { getEventListeners } from 'node:events';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { within } from '../helpers/within.ts';
import { ended, fetchThrough, heard, lane, origin, saying, until } from './lane.ts';

let undo: AsyncDisposableStack;
beforeEach(() => {
  undo = new AsyncDisposableStack();
});
afterEach(() => undo.disposeAsync());

const open = async (...options: Parameters<typeof lane>) => undo.use(await lane(...options));
const serve = async (...options: Parameters<typeof origin>) => undo.use(await origin(...options));

describe('a page that fetches over http', () => {
  test('gets what the server says: status, headers, body', async () => {
    const { port } = await serve((request, response) => {
      response.writeHead(207, 'Quite All Right', [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['X-Host', request.headers.host ?? ''],
      ]);
      response.end(`${request.method} ${request.url}`);
    });
    const { door, admit, asked } = await open({ hosts: { 'site.example': ['127.0.0.1'] } });
    const passage = admit();
    const url = `http://site.example:${port}/a%20b?c=d`;
    const answer = await fetchThrough(door, url);
    expect(answer).toMatchObject({ status: 207, body: 'GET /a%20b?c=d' });
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(answer.headers['x-host']).toBe(`site.example:${port}`);
    expect(passage.outcome(`${url}#part`)).toEqual({ kind: 'answered', status: 207, statusText: 'Quite All Right' });
    expect(passage.outcome(`http://site.example:${port}/other`)).toBeUndefined();
    expect(passage.wentOutside).toBe(true);
    expect(asked).toEqual(['site.example']);
  });

  test('sends its body, of known length and in chunks', async () => {
    const { port } = await serve((request, response) => request.pipe(response));
    const { door, admit } = await open();
    admit();
    const url = `http://127.0.0.1:${port}/`;
    expect(
      await fetchThrough(door, url, { method: 'POST', headers: { 'content-length': '5' }, body: 'known' }),
    ).toMatchObject({ body: 'known' });
    const chunked = { 'transfer-encoding': 'chunked' };
    expect(await fetchThrough(door, url, { method: 'DELETE', headers: chunked, body: 'odd' })).toMatchObject({
      body: 'odd',
    });
    expect(
      await fetchThrough(door, url, { method: 'PUT', headers: { 'transfer-encoding': 'chunked' }, body: 'in chunks' }),
    ).toMatchObject({ body: 'in chunks' });
  });

  test('sees an answer while it is still being made', async () => {
    let finish = () => {};
    const { port } = await serve((_, response) => {
      response.write('first');
      finish = () => response.end('last');
    });
    const { door, admit } = await open();
    admit();
    const client = await saying(door, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    await heard(client, 'first');
    finish();
    await heard(client, 'last');
    client.destroy();
  });

  test('passes on no header that belongs to one connection', async () => {
    const { port } = await serve((request, response) => {
      response.writeHead(200, { 'Proxy-Authenticate': 'Basic', 'X-Kept': 'yes' });
      response.end(request.rawHeaders.filter((_, at) => at % 2 === 0).join());
    });
    const { door, admit } = await open();
    admit();
    const { body, headers } = await fetchThrough(door, `http://127.0.0.1:${port}/`, {
      headers: {
        connection: 'keep-alive, x-mine',
        'x-mine': '1',
        'proxy-connection': 'keep-alive',
        te: 'gzip',
        'x-kept': '2',
      },
    });
    expect(body.toLowerCase().split(',').sort()).toEqual(['connection', 'host', 'x-kept']);
    expect(headers).toMatchObject({ 'x-kept': 'yes' });
    expect(headers).not.toHaveProperty('proxy-authenticate');
  });

  test('gets the page of a server that bends the rules of http', async () => {
    const { server, port } = await serve(() => {});
    server.removeAllListeners('connection');
    server.on('connection', socket => {
      socket.once('data', () =>
        socket.end(`HTTP/1.1 200 OK\r\nX-Big: ${'b'.repeat(64 * 1024)}\r\nX-Odd: a\u0001b\r\n\r\nthe page`),
      );
    });
    const { door, admit } = await open();
    admit();
    const client = await saying(door, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    const answer = await heard(client, 'the page');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).not.toContain('X-Odd');
    client.destroy();
  });

  test('follows redirects itself: each hop is judged when it is asked for', async () => {
    const { port } = await serve((_, response) => {
      response.writeHead(302, { location: 'http://10.255.255.1/secret' });
      response.end();
    });
    // The allow list lets the first server, on loopback, pass by its name.
    const rules = { denyPrivateIps: true, allowList: [/^http:\/\/start\.localhost/, /^http:\/\/public\.example/] };
    const { door, admit, lines } = await open({ rules });
    const passage = admit();
    const first = await fetchThrough(door, `http://start.localhost:${port}/`);
    expect(first).toMatchObject({ status: 302, headers: { location: 'http://10.255.255.1/secret' } });
    expect(await fetchThrough(door, first.headers.location ?? '')).toMatchObject({ status: 403 });
    expect(passage.outcome('http://10.255.255.1/secret')).toMatchObject({ kind: 'refused' });
    expect(lines.join()).toContain("'http://10.255.255.1/secret' does not match any expression from the allowed list");
  });

  test('keeps connections to a server for the time of its request, and no longer', async () => {
    const { port, connections } = await serve((_, response) => response.end('x'));
    const { door, admit } = await open();
    const url = `http://127.0.0.1:${port}/`;
    const first = admit();
    await fetchThrough(door, url);
    await fetchThrough(door, url);
    expect(connections).toEqual({ now: 1, ever: 1 });
    first.close();
    await until('the connection to be closed', () => connections.now === 0);
    admit();
    await fetchThrough(door, url);
    expect(connections.ever).toBe(2);
  });

  test('is not hurt by a server that closes a kept connection as it is used again', async () => {
    let served = 0;
    const { port } = await serve((request, response) => {
      served += 1;
      if (served === 2) request.socket.resetAndDestroy();
      else response.end(`answer ${served}`);
    });
    const { door, admit } = await open();
    const passage = admit();
    const url = `http://127.0.0.1:${port}/`;
    expect(await fetchThrough(door, url)).toMatchObject({ body: 'answer 1' });
    expect(await fetchThrough(door, url)).toMatchObject({ body: 'answer 3' });
    expect(passage.outcome(url)).toMatchObject({ kind: 'answered' });
  });

  test('that loses interest before there is an answer frees the server', async () => {
    const reached = Promise.withResolvers<void>();
    const { port, connections } = await serve(() => reached.resolve());
    const { door, admit } = await open();
    admit();
    const client = await saying(door, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    await within(5000, 'the request', reached.promise);
    client.destroy();
    await until('the connection to be closed', () => connections.now === 0);
  });

  test('learns that an answer broke off', async () => {
    const { port } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    const { door, admit } = await open();
    admit();
    await expect(fetchThrough(door, `http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('gets many things at once', async () => {
    const { port } = await serve((request, response) => response.end(request.url));
    const { door, admit, asked } = await open({ hosts: { 'many.example': ['127.0.0.1'] } });
    admit();
    const urls = Array.from({ length: 60 }, (_, at) => `http://many.example:${port}/${at}`);
    const answers = await Promise.all(urls.map(url => fetchThrough(door, url)));
    expect(answers.map(answer => answer.body)).toEqual(urls.map((_, at) => `/${at}`));
    expect(asked).toEqual(['many.example']);
  });

  test('that loses interest frees the server', async () => {
    const { port, connections } = await serve((_, response) => response.write('for ever'));
    const { door, admit } = await open();
    admit();
    const client = await saying(door, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    await heard(client, 'for ever');
    client.destroy();
    await until('the connection to be closed', () => connections.now === 0);
  });
});

describe('what a page may not have', () => {
  test('is answered with an empty page and 403, logged, and told apart from a 403 of a server', async () => {
    const { port } = await serve((_, response) => {
      response.statusCode = 403;
      response.end();
    });
    const { door, admit, lines } = await open({ rules: { denyList: [/secret/] } });
    const passage = admit();
    const url = `http://127.0.0.1:${port}/secret`;
    expect(await fetchThrough(door, url)).toMatchObject({ status: 403, body: '<!doctype html>' });
    await fetchThrough(door, `http://127.0.0.1:${port}/open`);
    expect(passage.outcome(url)).toEqual({
      kind: 'refused',
      reason: `'${url}' matches the expression from the denied list`,
    });
    expect(passage.outcome(`http://127.0.0.1:${port}/open`)).toMatchObject({ kind: 'answered', status: 403 });
    expect(lines).toEqual([`request blocked: '${url}' matches the expression from the denied list`]);
  });

  test('at a private address is not even dialled', async () => {
    const { port, connections } = await serve((_, response) => response.end());
    const hosts = { 'rebind.example': ['127.0.0.1'], 'both.example': ['192.0.2.1', '127.0.0.1'] };
    const { door, admit } = await open({ rules: { denyPrivateIps: true }, hosts });
    admit();
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:7f00:1]', 'rebind.example', 'both.example'])
      expect(await fetchThrough(door, `http://${host}:${port}/`), host).toMatchObject({ status: 403 });
    expect(connections.ever).toBe(0);
  });

  test('does not fill the log', async () => {
    const { door, admit, lines } = await open({ rules: { denyList: [/./] } });
    admit();
    for (let at = 0; at < 50; at += 1) await fetchThrough(door, `http://127.0.0.1/${at}`);
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('further refusals of this request are not logged');
  });

  test('includes every door of the process and the ports that are forbidden, at all addresses of the machine', async () => {
    const { port, connections } = await serve((_, response) => response.end());
    const other = await open();
    other.admit();
    const { door, admit } = await open({
      forbiddenPorts: [port],
      hosts: { 'me.example': ['127.0.0.1'] },
      rules: { allowList: [/./] },
    });
    const passage = admit();
    const [, otherPort] = other.door.address.split(':');
    const mine = Object.values(networkInterfaces())
      .flatMap(list => list ?? [])
      .find(one => !one.internal && one.family === 'IPv4');
    const hosts = ['127.0.0.1', '127.8.8.8', 'localhost', 'me.example', '0.0.0.0', ...(mine ? [mine.address] : [])];
    for (const at of hosts.flatMap(host => [`${host}:${port}`, `${host}:${otherPort}`])) {
      expect(await fetchThrough(door, `http://${at}/`), at).toMatchObject({ status: 403 });
      expect(passage.outcome(`http://${at}/`)).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('the service itself'),
      });
    }
    expect(connections.ever).toBe(0);
  });

  test('includes what is no absolute http URL', async () => {
    const { door, admit } = await open();
    admit();
    for (const target of ['/etc/passwd', '*', 'file:///etc/passwd', 'ftp://a/b', 'http://']) {
      const client = await saying(door, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect(await heard(client, '\r\n\r\n'), target).toMatch(/^HTTP\/1\.1 400 |^$/);
      client.destroy();
    }
  });
});

describe('what can not be had', () => {
  test('is recorded as Chromium would call it', async () => {
    const resets = await serve(request => request.socket.resetAndDestroy());
    const hangsUp = await serve(request => request.socket.destroy());
    const speaksOther = await serve(() => {});
    speaksOther.server.removeAllListeners('connection');
    speaksOther.server.on('connection', socket => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n'));
    const gone = await origin(() => {});
    await gone[Symbol.asyncDispose]();
    const { door, admit } = await open();
    const passage = admit();
    for (const [url, error] of [
      ['http://nowhere.example/', 'net::ERR_NAME_NOT_RESOLVED'],
      [`http://127.0.0.1:${gone.port}/`, 'net::ERR_CONNECTION_REFUSED'],
      [`http://localhost:${gone.port}/`, 'net::ERR_CONNECTION_REFUSED'],
      [`http://127.0.0.1:${resets.port}/`, 'net::ERR_CONNECTION_RESET'],
      [`http://127.0.0.1:${hangsUp.port}/`, 'net::ERR_EMPTY_RESPONSE'],
      [`http://127.0.0.1:${speaksOther.port}/`, 'net::ERR_INVALID_HTTP_RESPONSE'],
    ] as const) {
      expect(await fetchThrough(door, url), url).toMatchObject({ status: 502, body: '<!doctype html>' });
      expect(passage.outcome(url)).toEqual({ kind: 'failed', error });
    }
  });

  test('is recorded as answered when a later try succeeds', async () => {
    let served = 0;
    const { port } = await serve((request, response) => {
      served += 1;
      if (served === 1) request.socket.destroy();
      else response.end();
    });
    const { door, admit } = await open();
    const passage = admit();
    const url = `http://127.0.0.1:${port}/`;
    await fetchThrough(door, url);
    expect(passage.outcome(url)).toMatchObject({ kind: 'failed' });
    await fetchThrough(door, url);
    expect(passage.outcome(url)).toMatchObject({ kind: 'answered', status: 200 });
  });

  test('falls back to another address of the host', async () => {
    const { port } = await serve((_, response) => response.end('here'));
    const { door, admit } = await open({ hosts: { 'two.example': ['::1', '127.0.0.9', '127.0.0.1'] } });
    admit();
    expect(await fetchThrough(door, `http://two.example:${port}/`)).toMatchObject({ body: 'here' });
  });
});

describe('the life of a door', () => {
  test('before and after a request everything is refused', async () => {
    const { port, connections } = await serve((_, response) => response.end());
    const { door, admit } = await open();
    const url = `http://127.0.0.1:${port}/`;
    expect(await fetchThrough(door, url)).toMatchObject({ status: 403 });
    const passage = admit();
    expect(await fetchThrough(door, url)).toMatchObject({ status: 200 });
    passage.close();
    expect(await fetchThrough(door, url)).toMatchObject({ status: 403 });
    const client = await saying(door, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    client.destroy();
    expect(connections.ever).toBe(1);
    expect(passage.outcome(url)).toMatchObject({ kind: 'answered' });
  });

  test('one request at a time', async () => {
    const { admit } = await open();
    const passage = admit();
    expect(() => admit()).toThrow('still open for another request');
    passage.close();
    passage.close();
    const over = new AbortController();
    admit({ signal: over.signal }).close();
    expect(getEventListeners(over.signal, 'abort')).toEqual([]);
    admit();
  });

  test('a server that never answers is left when the request ends', async () => {
    const reached = Promise.withResolvers<void>();
    const { port, connections } = await serve(() => reached.resolve());
    const { door, admit } = await open();
    const over = new AbortController();
    const passage = admit({ signal: over.signal });
    const answer = fetchThrough(door, `http://127.0.0.1:${port}/`);
    await within(5000, 'the request', reached.promise);
    over.abort(new Error('time is up'));
    await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
    await until('the connection to be closed', () => connections.now === 0);
    expect(passage.outcome(`http://127.0.0.1:${port}/`)).toBeUndefined();
    admit();
  });

  test('a request that is over before it began gets nothing', async () => {
    const { door, admit } = await open();
    admit({ signal: AbortSignal.abort() });
    expect(await fetchThrough(door, 'http://127.0.0.1:9/')).toMatchObject({ status: 403 });
    admit();
  });

  test('no connection of the engine lives on into the next request, used or not', async () => {
    const { port } = await serve((_, response) => response.end('x'));
    const { door, admit } = await open();
    const get = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
    const first = admit();
    const used = await saying(door, get);
    await heard(used, 'x');
    const unused = await saying(door, '');
    first.close();
    await Promise.all([ended(used, 'the used connection'), ended(unused, 'the unused one')]);
    // Made while the door is shut: nobody knows whose it is.
    const between = await saying(door, get);
    expect(await heard(between, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    admit();
    await ended(between, 'the connection made in between');
  });

  test('the page of an earlier request is known by its host', async () => {
    const { port } = await serve((_, response) => response.end('x'));
    const { door, admit, lines, whispers } = await open();
    const find = () => undefined;
    admit({ site: { host: 'old.localhost', find } }).close();
    const passage = admit({ site: { host: 'new.localhost', find } });
    const url = `http://127.0.0.1:${port}/`;
    expect(await fetchThrough(door, url, { headers: { referer: 'http://old.localhost/' } })).toMatchObject({
      status: 403,
    });
    expect(await fetchThrough(door, url, { headers: { origin: 'http://old.localhost' } })).toMatchObject({
      status: 403,
    });
    expect(await fetchThrough(door, 'http://old.localhost/index.html')).toMatchObject({ status: 403 });
    expect(await fetchThrough(door, `http://old.localhost:${port}/`)).toMatchObject({ status: 403 });
    const client = await saying(door, `CONNECT old.localhost:${port} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(await heard(client, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    client.destroy();
    expect(await fetchThrough(door, url, { headers: { referer: 'http://new.localhost/' } })).toMatchObject({
      status: 200,
    });
    expect(lines).toEqual([]);
    expect(whispers[0]).toBe('request blocked: it comes from the page of an earlier request');
    passage.close();
    // Where all requests share one host it is nobody's former one.
    admit({ site: { host: 'old.localhost', find } });
    expect(await fetchThrough(door, url, { headers: { referer: 'http://old.localhost/' } })).toMatchObject({
      status: 200,
    });
  });

  test('nothing is left after it', async () => {
    const reached = Promise.withResolvers<void>();
    const { port, connections } = await serve(() => reached.resolve());
    const { door, admit } = await open();
    admit();
    const waiting = fetchThrough(door, `http://127.0.0.1:${port}/`).catch(error => error.code);
    const idle = await saying(door, '');
    await within(5000, 'the request', reached.promise);
    await door[Symbol.asyncDispose]();
    expect(await waiting).toBe('ECONNRESET');
    await ended(idle, 'the idle connection');
    await until('the connection to be closed', () => connections.now === 0);
    await expect(saying(door, '')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await door[Symbol.asyncDispose]();
  });

  test('its port is nothing special after it', async () => {
    const gone = await open();
    const port = Number(gone.door.address.split(':')[1]);
    await gone.door[Symbol.asyncDispose]();
    const { door, admit } = await open();
    const passage = admit();
    const url = `http://127.0.0.1:${port}/`;
    await fetchThrough(door, url);
    expect(passage.outcome(url)).toEqual({ kind: 'failed', error: 'net::ERR_CONNECTION_REFUSED' });
  });
});
