import { expect, test } from 'vitest';
import { metricsRoutes } from '../../src/http/metrics-routes.ts';
import { BootFailure, type EngineHandle } from '../../src/module.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { kernelSettings, prometheusSettings } from '../../src/settings/kernel-settings.ts';
import { readSettings } from '../../src/settings/read.ts';
import { Kernel } from '../http/kernel.ts';

const times = { count: 2, totalMs: 1500, longestMs: 1000 };
const engine = (id: string, name: string, inHealth = true) =>
  ({
    id,
    name,
    inHealth,
    status: () => ({
      queueSize: 3,
      activeTasks: 1,
      waitingVictims: 0,
      markedDocuments: 0,
      restarts: 2,
      startsByReason: { work: 1 },
      restartsByReason: { crash: 2 },
      killsByReason: {},
      startTimes: times,
      queueTimes: times,
      runTimes: times,
      instances: [
        { id: `${id}-1.1`, state: 'ready', activeTasks: 1, servedTasks: 4, sinceMs: 1000, residentBytes: undefined },
      ],
    }),
  }) as unknown as EngineHandle;
const engines = [
  engine('libreoffice', 'LibreOffice'),
  engine('pdf', 'the PDF worker', false),
  engine('chromium', 'Chromium'),
];

const routes = (env: Record<string, string> = {}, metrics = createMetrics(engines)) =>
  metricsRoutes(readSettings(kernelSettings, { env, args: [] }).of(prometheusSettings), engines, metrics);

test('the compatible metrics are the same to the last byte', async () => {
  await using kernel = await Kernel.start(routes());
  const answer = await fetch(`${kernel.url}/prometheus/metrics`);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
  expect(
    await answer.text(),
  ).toBe(`# HELP gotenberg_chromium_requests_queue_size Current number of Chromium conversion requests waiting to be treated.
# TYPE gotenberg_chromium_requests_queue_size gauge
gotenberg_chromium_requests_queue_size 3
# HELP gotenberg_chromium_restarts_count Current number of Chromium restarts.
# TYPE gotenberg_chromium_restarts_count gauge
gotenberg_chromium_restarts_count 2
# HELP gotenberg_libreoffice_requests_queue_size Current number of LibreOffice conversion requests waiting to be treated.
# TYPE gotenberg_libreoffice_requests_queue_size gauge
gotenberg_libreoffice_requests_queue_size 3
# HELP gotenberg_libreoffice_restarts_count Current number of LibreOffice restarts.
# TYPE gotenberg_libreoffice_restarts_count gauge
gotenberg_libreoffice_restarts_count 2
`);
});

test('path and switch are as set; an empty namespace is refused', () => {
  expect(routes({ PROMETHEUS_METRICS_PATH: '/m' }).map(({ path }) => path)).toEqual(['/m', '/metrics']);
  expect(routes({ PROMETHEUS_DISABLE_COLLECT: 'true' })).toEqual([]);
  expect(() => routes({ PROMETHEUS_NAMESPACE: '' })).toThrow(BootFailure);
});

test('our metrics tell engines by reason, and requests by route only', async () => {
  const metrics = createMetrics(engines);
  for (const method of ['GET', 'ODD1', 'ODD2']) {
    metrics.observe({ route: undefined, method, status: 404, ms: 5, bytesIn: 0, bytesOut: 10 });
  }
  await metrics.text();
  const text = await metrics.text();
  expect(text).toContain('platen_engine_restarts_total{engine="chromium",reason="crash"} 2\n');
  expect(text).toContain('platen_engine_run_time_seconds_total{engine="pdf"} 1.5\n');
  expect(text).toContain('platen_engine_instance_served_tasks{engine="chromium",instance="chromium-1.1"} 4\n');
  expect(text).toContain('platen_http_requests_total{route="none",method="other",status="4xx"} 2\n');
  expect(text).toContain('platen_http_request_duration_seconds_count{route="none"} 3\n');
});
