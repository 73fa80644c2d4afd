import { BootFailure, type EngineHandle } from '../module.ts';
import { createCompatibleMetrics, type Metrics } from '../observe/metrics.ts';
import type { PrometheusSettings } from '../settings/kernel-settings.ts';
import type { PlainRoute } from './route.ts';

const OURS = '/metrics';

/**
 * The metrics of the compatible API, and ours beside them; none where collecting is off.
 * @throws BootFailure where the namespace can't be one
 */
export function metricsRoutes(
  settings: PrometheusSettings,
  engines: readonly EngineHandle[],
  metrics: Metrics,
): readonly PlainRoute[] {
  if (settings.disableCollect) return [];
  if (settings.namespace === '') throw new BootFailure('namespace must not be empty: set --prometheus-namespace');
  const route = (path: string, summary: string, text: () => Promise<string>): PlainRoute => ({
    kind: 'plain',
    method: 'GET',
    path,
    summary,
    quiet: settings.disableRouteTelemetry,
    handle: async c => c.body(await text(), 200, { 'Content-Type': CONTENT_TYPE }),
  });
  const compatible = route(
    settings.metricsPath,
    'Queues and restarts',
    createCompatibleMetrics(settings.namespace, engines),
  );
  // Whoever puts the compatible metrics there wants those.
  return settings.metricsPath === OURS ? [compatible] : [compatible, route(OURS, 'All metrics', () => metrics.text())];
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';
