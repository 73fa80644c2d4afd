import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { childrenOf, groupsOf } from '../helpers/processes.ts';
import { freePort, Service } from '../helpers/service.ts';
import { within } from '../helpers/within.ts';

const SLOW_PAGE = ['files', 'index.html', '<p>slow but sure'] as const;

describe('starting and stopping', () => {
  test('SIGTERM under load: all that was accepted is answered, and nothing is left', async () => {
    await using service = await Service.start({ CHROMIUM_AUTO_START: 'true', LIBREOFFICE_AUTO_START: 'true' });
    const running = [
      ...Array.from({ length: 8 }, () =>
        service.post('/forms/chromium/convert/html', [SLOW_PAGE, ['waitDelay', '700ms']]),
      ),
      ...Array.from({ length: 6 }, (_, i) =>
        service.post('/forms/libreoffice/convert', [['files', `${i}.txt`, `document ${i}`]]),
      ),
    ];
    // All are in when the last kind's first answer is there.
    await Promise.race(running);
    const groups = await groupsOf(await childrenOf(service.process.pid ?? 0));
    expect(groups.length).toBeGreaterThan(2);
    service.process.kill('SIGTERM');
    await service.line(line => line.includes('shutting down'));

    const late = await service.post('/forms/chromium/convert/html', [SLOW_PAGE]).catch(() => undefined);
    if (late) {
      expect(late.status).toBe(503);
      expect(late.headers.get('retry-after')).toBeTruthy();
    }
    const answers = await Promise.all(running);
    expect(answers.map(answer => answer.status)).toEqual(answers.map(() => 200));
    for (const answer of answers) expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(500);
    expect(await within(30_000, 'the service to end', service.exited)).toEqual({ code: 0, signal: null });
    expect(await groupsOf(groups)).toEqual([]);
    expect(await service.leftovers()).toEqual([]);
  }, 90_000);

  test('kill -9 leaves no engine behind, and the next start sweeps its folder', async () => {
    await using service = await Service.start({
      CHROMIUM_AUTO_START: 'true',
      LIBREOFFICE_AUTO_START: 'true',
      PDFENGINES_AUTO_START: 'true',
    });
    const children = await childrenOf(service.process.pid ?? 0);
    expect(children.length).toBeGreaterThan(3);
    service.process.kill('SIGKILL');
    await service.exited;
    await within(5_000, 'the engines to end with their parent', gone(children));
    expect(await service.leftovers()).not.toEqual([]);
    await using next = await Service.start({ TMPDIR: service.temp });
    const left = await service.leftovers();
    expect(left.filter(name => !name.includes('/'))).toHaveLength(1);
    expect((await next.stop()).code).toBe(0);
    expect(await service.leftovers()).toEqual([]);
  }, 90_000);

  test('a port in use ends the start with one clear line and exit code 1', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await expect(Service.start({ API_PORT: String(port) })).rejects.toThrow(new RegExp(`${port}.*in use`, 's'));
    } finally {
      server.close();
    }
  }, 40_000);

  test('wrong settings are all reported at once, without a stack', async () => {
    const failed = Service.start({ API_TIMEOUT: 'soon', CHROMIUM_MAX_CONCURRENCY: '0', WEBHOOK_MAX_RETRY: '9' });
    const text = await failed.then(
      () => '',
      error => String(error.message),
    );
    expect(text).toMatch(/API_TIMEOUT.*soon/);
    expect(text).toMatch(/CHROMIUM_MAX_CONCURRENCY.*0/);
    expect(text).toMatch(/WEBHOOK_MAX_RETRY/);
    expect(text).not.toMatch(/^\s+at /m);
  });
});

async function gone(pids: readonly number[]): Promise<void> {
  while ((await groupsOf(pids)).length > 0) await new Promise(resolve => setTimeout(resolve, 20));
}
