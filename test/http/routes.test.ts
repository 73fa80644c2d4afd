import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemRoutes } from '../../src/http/system-routes.ts';
import type { EngineHandle } from '../../src/module.ts';
import { makes } from './fake-routes.ts';
import { Kernel, post } from './kernel.ts';

let kernel: Kernel;
let usable = true;
let reasons: string[] = [];

const engine = (id: string, name: string, inHealth = true): EngineHandle =>
  ({
    id,
    name,
    inHealth,
    autoStart: false,
    status: () => ({ healthy: id === 'libreoffice' || usable, usable }),
    launch: () => Promise.reject(new Error('asked for an engine')),
    version: () => Promise.reject(new Error('asked for an engine')),
  }) as unknown as EngineHandle;

const system = systemRoutes({
  settings: {
    disableRootRouteTelemetry: true,
    disableVersionRouteTelemetry: true,
    disableHealthCheckRouteTelemetry: true,
  },
  version: '1.2.3',
  engines: [
    engine('chromium', 'Chromium'),
    engine('libreoffice', 'LibreOffice'),
    engine('pdf', 'the PDF engine', false),
  ],
  whyNotReady: () => reasons,
});

beforeEach(async () => {
  usable = true;
  reasons = [];
  kernel = await Kernel.start([...system, makes({ content: 'x' })]);
});
afterEach(() => kernel[Symbol.asyncDispose]());

const ask = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
  const answer = await fetch(kernel.url + path, { method, headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('/health', () => {
  const times = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now');

  test('lists the engines that the compatible API knows', async () => {
    const { status, headers, text } = await ask('/health');
    expect(status).toBe(200);
    expect(times(text)).toBe(
      '{"status":"up","details":{"chromium":{"status":"up","timestamp":"now"},"libreoffice":{"status":"up","timestamp":"now"}}}',
    );
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('expires')).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
  });

  test('is 503 and names the engine that is down', async () => {
    usable = false;
    const { status, text } = await ask('/health');
    expect(status).toBe(503);
    expect(times(text)).toContain('"chromium":{"status":"down","timestamp":"now","error":"Chromium is unhealthy"}');
    expect(times(text)).toMatch(/^\{"status":"down"/);
  });

  test('answers HEAD with the same headers and no body', async () => {
    usable = false;
    const { status, headers, text } = await ask('/health', 'HEAD');
    expect([status, text]).toEqual([503, '']);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});

test('/livez is 200 while the process lives; /readyz says why not', async () => {
  expect(await ask('/livez')).toMatchObject({ status: 200 });
  expect(await ask('/readyz')).toMatchObject({ status: 200, text: 'ready' });
  reasons = ['Chromium is starting', 'LibreOffice is starting'];
  expect(await ask('/livez')).toMatchObject({ status: 200 });
  expect(await ask('/readyz')).toMatchObject({ status: 503, text: 'Chromium is starting\nLibreOffice is starting' });
});

test('the others answer with little', async () => {
  expect(await ask('/version')).toMatchObject({ status: 200, text: '1.2.3' });
  expect((await ask('/version')).headers.get('content-type')).toBe('text/plain; charset=UTF-8');
  expect(await ask('/favicon.ico')).toMatchObject({ status: 204, text: '' });
  const root = await ask('/');
  expect(root.headers.get('content-type')).toBe('text/html; charset=UTF-8');
});

describe('what does not exist', () => {
  test('is 404, and so is a path with a slash too many', async () => {
    for (const path of ['/nope', '/health/', '/forms/test/', '//health']) {
      expect(await ask(path)).toMatchObject({ status: 404, text: 'Not Found' });
    }
  });

  test('is 405 with the methods that do', async () => {
    const wrong = await ask('/forms/test');
    expect(wrong).toMatchObject({ status: 405, text: 'Method Not Allowed' });
    expect(wrong.headers.get('allow')).toBe('OPTIONS, POST');
    expect((await ask('/version', 'HEAD')).status).toBe(405);
    expect((await ask('/version', 'DELETE')).headers.get('allow')).toBe('OPTIONS, GET');
    expect((await ask('/health', 'POST')).headers.get('allow')).toBe('OPTIONS, GET, HEAD');
  });

  test('OPTIONS lists the methods', async () => {
    const options = await ask('/forms/test', 'OPTIONS');
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([204, 'OPTIONS, POST', '']);
    expect((await ask('/nope', 'OPTIONS')).status).toBe(404);
  });

  test('a large body for it does not cost the client its answer', async () => {
    const answer = await kernel.raw(post('/nope', 'x'.repeat(3_000_000)));
    expect(answer).toMatch(/^HTTP\/1.1 404/);
  });
});

describe('the id of a request', () => {
  test('is echoed on every answer, and made where there is none or an unfit one', async () => {
    for (const path of ['/health', '/version', '/nope']) {
      expect((await ask(path, 'GET', { 'Gotenberg-Trace': 'my-id 1' })).headers.get('gotenberg-trace')).toBe('my-id 1');
      expect((await ask(path)).headers.get('gotenberg-trace')).toMatch(/^[0-9a-f-]{36}$/);
    }
    for (const unfit of ['x'.repeat(201), 'caf\xe9']) {
      expect((await ask('/', 'GET', { 'Gotenberg-Trace': unfit })).headers.get('gotenberg-trace')).toMatch(
        /^[0-9a-f-]{36}$/,
      );
    }
  });

  test('comes in the header that the operator chose', async () => {
    await using other = await Kernel.start([...system], { correlationIdHeader: 'X-Request-Id' });
    const answer = await fetch(`${other.url}/version`, { headers: { 'X-Request-Id': 'abc' } });
    expect(answer.headers.get('x-request-id')).toBe('abc');
    expect(answer.headers.get('gotenberg-trace')).toBeNull();
  });
});

test('a root path is put before every route', async () => {
  await using rooted = await Kernel.start([...system], { rootPath: '/pdf/' });
  expect(rooted.url).toMatch(/:\d+\/pdf$/);
  expect((await fetch(`${rooted.url}/version`)).status).toBe(200);
  expect((await fetch(`${rooted.url}/`)).status).toBe(200);
  expect((await fetch(new URL('/version', rooted.url))).status).toBe(404);
});

describe('the access log', () => {
  test('has one line for a request, with the names of the compatible API', async () => {
    await ask('/nope?x=1', 'GET', {
      'Gotenberg-Trace': 'me',
      Referer: 'http://a/',
      'User-Agent': 'test',
      'X-Forwarded-For': '192.0.2.7, 10.0.0.1',
    });
    expect(await kernel.line('me')).toMatchObject({
      level: 'warn',
      log_type: 'access',
      method: 'GET',
      path: '/nope',
      uri: '/nope?x=1',
      status: 404,
      referer: 'http://a/',
      user_agent: 'test',
      remote_ip: '192.0.2.7',
      peer_ip: '127.0.0.1',
      bytes_in: 0,
      bytes_out: expect.any(Number),
      latency: expect.any(Number),
      ts: expect.any(Number),
    });
    expect(kernel.lines).toHaveLength(1);
  });

  test('believes no proxy that forwards nonsense', async () => {
    await ask('/nope', 'GET', { 'Gotenberg-Trace': 'me', 'X-Forwarded-For': 'evil\tname' });
    const line = await kernel.line('me');
    expect(line.remote_ip).toBe('127.0.0.1');
    expect(line.peer_ip).toBeUndefined();
  });

  test('leaves out probes', async () => {
    await ask('/health');
    await ask('/version');
    await ask('/nope', 'GET', { 'Gotenberg-Trace': 'last' });
    await kernel.line('last');
    expect(kernel.lines.map(line => line.path)).toEqual(['/nope']);
  });
});
