import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { childrenOf, groupsOf } from './helpers/processes.ts';
import { form, freePort, Service } from './helpers/service.ts';
import { within } from './helpers/within.ts';

const ROOT = new URL('..', import.meta.url).pathname;

let temp: string;
beforeEach(async () => {
  temp = await mkdtemp(join(tmpdir(), 'serve-test-'));
});
afterEach(() => rm(temp, { recursive: true, force: true }));

/** Runs the service until it ends by itself. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: '/usr/bin:/bin', TMPDIR: temp, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', piece => {
    stdout += piece;
  });
  child.stderr.on('data', piece => {
    stderr += piece;
  });
  const code = await within(15_000, 'the service to end', new Promise(resolve => child.once('close', resolve)));
  return { code, stdout, stderr };
}

describe('the command line', () => {
  test('--help and --version answer and end', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    const help = await run(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('--api-port=3000');
  });

  test('all faults are told at once, a line each, without a stack', async () => {
    const { code, stdout, stderr } = await run(['--api-prot=1', '--api-timeout=soon'], {
      API_PORT: 'abc',
      WEBHOOK_MAX_RETRY: '9',
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trim().split('\n')).toEqual([
      '--api-prot is no option of this service; did you mean --api-port?',
      "API_PORT: 'abc' is not accepted; wanted: a whole number from 1 to 65535",
      "--api-timeout: 'soon' is not accepted; wanted: a duration such as 30s, 1m30s or 500ms, at least 1ms",
      'WEBHOOK_MAX_RETRY is not supported by this version of Platen yet; leave it out, or at 4',
    ]);
  });

  test('a port in use is one clear line, and nothing is left', async () => {
    const port = await freePort();
    const server = createServer();
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
    const { code, stderr } = await run([`--api-port=${port}`, '--api-bind-ip=127.0.0.1', '--log-level=error']);
    server.close();
    expect([code, stderr]).toEqual([
      1,
      `Port ${port} is in use. Stop what listens there, or choose another with API_PORT.\n`,
    ]);
    expect(await readdir(temp)).toEqual([]);
  });

  test('an address that the machine does not have, and a temp folder that is none, are named too', async () => {
    expect(await run(['--api-bind-ip=192.0.2.1', '--log-level=error'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^This machine has no address 192\.0\.2\.1.*\n$/),
    });
    expect(await run([], { TMPDIR: '/nowhere/at/all' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The temp folder \/nowhere\/at\/all can't be used.*TMPDIR.*\n$/),
    });
  });
});

const two = form([
  ['files', 'no.txt', 'x'],
  ['flatten', 'false'],
]);

describe('a running service', () => {
  test('ends with 0 on SIGTERM, and leaves neither folder nor process', async () => {
    await using service = await Service.start({ PDFENGINES_AUTO_START: 'true' });
    expect((await service.get('/readyz')).status).toBe(200);
    expect((await fetch(`${service.url}/forms/pdfengines/merge`, { method: 'POST', body: two })).status).toBe(400);
    const children = await childrenOf(service.process.pid ?? 0);
    expect(children.length).toBeGreaterThan(0);
    expect(await service.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await groupsOf(children)).toEqual([]);
    expect(await service.leftovers()).toEqual([]);
  });

  test('lets an upload finish that was under way; a second signal ends it at once with 130, leaving nothing', async () => {
    await using service = await Service.start({ PDFENGINES_AUTO_START: 'true' });
    const children = await childrenOf(service.process.pid ?? 0);
    const body = new ReadableStream({ start: controller => controller.enqueue(new TextEncoder().encode('--b\r\n')) });
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    const slow = fetch(`${service.url}/forms/pdfengines/merge`, {
      method: 'POST',
      body,
      headers,
      duplex: 'half',
    } as RequestInit);
    const ended = slow.then(
      () => 'answered',
      () => 'cut off',
    );
    await within(5_000, 'the request to have its folder', folderIn(service.temp));
    service.process.kill('SIGTERM');
    await within(
      5_000,
      'the service to begin to stop',
      service.line(line => line.includes('shutting down')),
    );
    expect((await service.get('/readyz')).status).toBe(503);
    expect((await service.get('/livez')).status).toBe(200);
    service.process.kill('SIGTERM');
    expect(await within(2_000, 'the service to end', service.exited)).toEqual({ code: 130, signal: null });
    expect(await ended).toBe('cut off');
    expect(await groupsOf(children)).toEqual([]);
    expect(await service.leftovers()).toEqual([]);
  });

  test('has patience with an upload as long as the settings say, then answers it and ends', async () => {
    await using service = await Service.start({ GOTENBERG_GRACEFUL_SHUTDOWN_DURATION: '300ms' });
    const body = new ReadableStream({ start: controller => controller.enqueue(new TextEncoder().encode('--b\r\n')) });
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    const slow = fetch(`${service.url}/forms/pdfengines/merge`, {
      method: 'POST',
      body,
      headers,
      duplex: 'half',
    } as RequestInit);
    await within(5_000, 'the request to have its folder', folderIn(service.temp));
    const stopped = service.stop();
    expect((await slow).status).toBe(503);
    expect(await stopped).toEqual({ code: 0, signal: null });
    expect(await service.leftovers()).toEqual([]);
  });

  test('writes its log as JSON to stderr and one line for people to stdout', async () => {
    await using service = await Service.start();
    await service.get('/nope');
    await service.line(line => line.includes('"path":"/nope"'));
    await service.stop();
    const log = service.output.filter(line => line.startsWith('{'));
    const [forPeople, ...more] = service.output.filter(line => !line.startsWith('{'));
    expect(more).toEqual([]);
    expect(forPeople).toMatch(/^Platen \d+\.\d+\.\d+ is ready: http:\/\/127\.0\.0\.1:\d+$/);
    for (const line of log)
      expect(JSON.parse(line)).toMatchObject({
        level: expect.any(String),
        ts: expect.any(Number),
        msg: expect.any(String),
      });
  });
});

/** Waits until a request of the service has its folder. */
async function folderIn(parent: string): Promise<void> {
  while (!(await readdir(parent, { recursive: true })).some(name => /\/r\d+$/.test(name))) {
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}
