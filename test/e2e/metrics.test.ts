import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from '../helpers/service.ts';
import { within } from '../helpers/within.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ API_ENABLE_DEBUG_ROUTE: 'true' });
});
afterAll(() => service[Symbol.asyncDispose]());

test('a conversion is counted by its route, its engine tells how it is, and both pages of metrics answer', async () => {
  const page = ['files', 'index.html', '<p>counted'] as const;
  const answer = await service.post('/forms/chromium/convert/html', [page], {
    headers: { 'Gotenberg-Trace': 'counted' },
  });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  await within(
    2000,
    'its access line',
    service.line(line => line.includes('"counted"') && line.includes('access')),
  );
  await service.get('/no-such-path-7');

  const ours = await (await service.get('/metrics')).text();
  expect(ours).toMatch(/^platen_http_requests_total\{[^}]*\/forms\/chromium\/convert\/html[^}]*\} 1$/m);
  expect(ours).toMatch(/^platen_engine_\w+\{[^}]*engine="chromium"[^}]*\}/m);
  expect(ours).not.toContain('no-such-path-7');

  const compatible = await service.get('/prometheus/metrics');
  expect(compatible.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
  expect((await compatible.text()).match(/^gotenberg_\w+ \d+$/gm)).toEqual([
    'gotenberg_chromium_requests_queue_size 0',
    'gotenberg_chromium_restarts_count 0',
    'gotenberg_libreoffice_requests_queue_size 0',
    'gotenberg_libreoffice_restarts_count 0',
  ]);
});

test('/debug shows settings and engines where it is switched on, and is not there where it is not', async () => {
  const debug = await (await service.get('/debug')).json();
  expect(debug).toMatchObject({ version: expect.any(String), flags: { 'api-enable-debug-route': 'true' } });
  await using plain = await Service.start();
  expect((await plain.get('/debug')).status).toBe(404);
}, 40_000);
