import type { EngineHandle } from '../module.ts';
import type { ApiSettings } from '../settings/kernel-settings.ts';
import type { PlainRoute } from './route.ts';

export interface SystemRoutesOptions {
  readonly settings: Pick<
    ApiSettings,
    'disableRootRouteTelemetry' | 'disableVersionRouteTelemetry' | 'disableHealthCheckRouteTelemetry'
  >;
  readonly version: string;
  readonly engines: readonly EngineHandle[];
  /** Why the service should get no traffic now, one reason each; empty: it is ready. */
  whyNotReady(): readonly string[];
}

/** The routes that belong to no feature. None of them ever waits for an engine: they tell what is known already. */
export function systemRoutes({ settings, version, engines, whyNotReady }: SystemRoutesOptions): readonly PlainRoute[] {
  const quietProbes = settings.disableHealthCheckRouteTelemetry;
  return [
    {
      kind: 'plain',
      method: 'GET',
      path: '/',
      summary: 'What this is',
      quiet: settings.disableRootRouteTelemetry,
      handle: c => c.html(WELCOME, 200, { 'Content-Type': 'text/html; charset=UTF-8' }),
    },
    {
      kind: 'plain',
      method: 'GET',
      path: '/favicon.ico',
      summary: 'Nothing, for browsers that ask',
      handle: c => c.body(null, 204),
    },
    {
      kind: 'plain',
      method: 'GET',
      path: '/version',
      summary: 'The version',
      quiet: settings.disableVersionRouteTelemetry,
      handle: c => c.body(version, 200, TEXT),
    },
    {
      kind: 'plain',
      method: 'GET',
      head: true,
      path: '/health',
      summary: "The engines' state; 503 when one is down",
      quiet: quietProbes,
      handle: c => {
        const health = healthOf(engines, new Date());
        return c.body(JSON.stringify(health), health.status === 'up' ? 200 : 503, HEALTH);
      },
    },
    {
      kind: 'plain',
      method: 'GET',
      head: true,
      path: '/livez',
      summary: 'Whether the process lives',
      quiet: quietProbes,
      handle: c => c.body('alive', 200, { ...TEXT, ...NOT_KEPT }),
    },
    {
      kind: 'plain',
      method: 'GET',
      head: true,
      path: '/readyz',
      summary: 'Whether it should get traffic',
      quiet: quietProbes,
      handle: c => {
        const reasons = whyNotReady();
        const [status, text] = reasons.length === 0 ? ([200, 'ready'] as const) : ([503, reasons.join('\n')] as const);
        return c.body(text, status, { ...TEXT, ...NOT_KEPT });
      },
    },
  ];
}

const WELCOME = `Platen makes PDFs of HTML, Office files and PDFs, over HTTP: there is nothing to click here.
Send a form, for instance: <code>curl -F files=@report.docx -o report.pdf localhost:3000/forms/libreoffice/convert</code>`;

const TEXT = { 'Content-Type': 'text/plain; charset=UTF-8' };
const NOT_KEPT = { 'Cache-Control': 'no-cache' };
/** As in the compatible API, down to the case of `utf-8`. */
const HEALTH = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-cache',
  Pragma: 'no-cache',
  Expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
};

interface Check {
  readonly status: 'up' | 'down';
  readonly timestamp: string;
  readonly error?: string;
}

function healthOf(
  engines: readonly EngineHandle[],
  now: Date,
): { status: 'up' | 'down'; details: Record<string, Check> } {
  const timestamp = now.toISOString();
  const checks = engines
    .filter(engine => engine.inHealth)
    .toSorted((a, b) => a.id.localeCompare(b.id))
    .map((engine): [string, Check] => [
      engine.id,
      engine.status().healthy
        ? { status: 'up', timestamp }
        : { status: 'down', timestamp, error: `${engine.name} is unhealthy` },
    ]);
  const up = checks.every(([, check]) => check.status === 'up');
  return { status: up ? 'up' : 'down', details: Object.fromEntries(checks) };
}
