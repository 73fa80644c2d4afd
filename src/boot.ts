import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Capabilities } from './capability/capabilities.ts';
import { createApp } from './http/app.ts';
import { debugRoute } from './http/debug-route.ts';
import { type Listener, listen } from './http/listener.ts';
import { metricsRoutes } from './http/metrics-routes.ts';
import { systemRoutes } from './http/system-routes.ts';
import { Traffic } from './http/traffic.ts';
import { BootFailure, type EngineHandle, type Module, type ModuleParts } from './module.ts';
import { createMetrics } from './observe/metrics.ts';
import { killAllChildren } from './process/child.ts';
import {
  apiSettings,
  coreSettings,
  kernelSettings,
  prometheusSettings,
  webhookSettings,
} from './settings/kernel-settings.ts';
import type { Settings } from './settings/read.ts';
import { Runner } from './supervise/runner.ts';
import type { Surroundings } from './supervise/types.ts';
import { systemClock } from './time/clock.ts';
import { createTempRoot, type TempRoot } from './work/temp-root.ts';

export interface BootOptions {
  readonly settings: Settings;
  readonly modules: readonly Module[];
  readonly log: Logger;
  readonly version: string;
  /** The system's temp folder. */
  readonly tempFolder: string;
  /** What modules may pass on to their children. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The running service. */
export interface Service {
  readonly address: string;
  /** Settles when the engines that start with the service have been waited for. */
  readonly ready: Promise<void>;
  /**
   * Lets what was accepted finish, for as long as the settings allow, and refuses what comes; then ends all engines,
   * closes the listener and removes the temp folder. Settles when nothing is left.
   */
  stop(): Promise<void>;
  /** Ends it all within this call: every child killed, the temp folder removed, nobody answered. */
  abandon(): void;
}

/** ms that a download gives no sign of life before it is cut off. */
const STALL_MS = 60_000;
/** ms for the last answers to leave once patience is at its end. */
const LAST_ANSWERS_MS = 1_000;
/** Beyond this nothing that should have ended is waited for any more. */
const LAST_RESORT_MS = 10_000;

/**
 * Makes everything in order and starts to listen; engines that start with the service are started then.
 * @throws BootFailure, with nothing left behind
 */
export async function boot(options: BootOptions): Promise<Service> {
  const { settings, log } = options;
  await using undo = new AsyncDisposableStack();
  const surroundings: Surroundings = { clock: systemClock, random: Math.random };
  const temp = undo.use(await tempRootIn(options.tempFolder));
  const runner = new Runner({ surroundings, log: log.child({ logger: 'runner' }) });
  undo.defer(() => endOf(runner));
  const parts = await makeModules(options, { surroundings, runner, temp });
  const engines = parts.flatMap(({ engine }) => engine ?? []);
  const traffic = new Traffic();
  const starting = new Set(engines.filter(engine => engine.autoStart));

  const api = settings.of(apiSettings);
  const kernelRoutes = systemRoutes({
    settings: api,
    version: options.version,
    engines,
    whyNotReady: () => whyNotReady(engines, starting, traffic),
  });
  const debug = debugRoute({
    settings,
    groups: [...kernelSettings, ...options.modules.map(module => module.settings)],
    modules: options.modules.map(({ id }) => id),
    engines,
    version: options.version,
    telling: settings.of(coreSettings).buildDebugData,
    quiet: api.disableDebugRouteTelemetry,
  });
  const metrics = createMetrics(engines);
  const observing = metricsRoutes(settings.of(prometheusSettings), engines, metrics);
  const app = createApp({
    settings: api,
    routes: [
      ...kernelRoutes,
      ...observing,
      ...(api.enableDebugRoute ? [debug] : []),
      ...parts.flatMap(({ routes }) => routes),
    ],
    observe: metrics.observe,
    webhookDisabled: settings.of(webhookSettings).disable,
    clock: systemClock,
    temp,
    traffic,
    log: log.child({ logger: 'api' }),
    stallMs: STALL_MS,
  });
  const listener = await listen(app, api, log);
  undo.move();
  const running = { ...options, engines, traffic, listener, runner, temp };
  return {
    address: listener.address,
    ready: startEngines(starting, api.startTimeout, log),
    stop: () => stop(running),
    abandon() {
      killAllChildren();
      rmSync(temp.path, { recursive: true, force: true });
    },
  };
}

async function tempRootIn(folder: string): Promise<TempRoot> {
  try {
    return await createTempRoot(folder);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BootFailure(
      `The temp folder ${folder} can't be used (${why}). Make it writable, or set TMPDIR to another.`,
    );
  }
}

async function makeModules(
  { modules, settings, log, environment }: BootOptions,
  kernel: { surroundings: Surroundings; runner: Runner; temp: TempRoot },
): Promise<ModuleParts[]> {
  const all: ModuleParts[] = [];
  let capabilities: Capabilities = {};
  for (const module of modules) {
    const parts = await module.create({
      ...kernel,
      settings: settings.of(module.settings),
      log: log.child({ logger: module.id }),
      capabilities,
      environment,
      apiPort: settings.of(apiSettings).port,
    });
    capabilities = { ...capabilities, ...parts.provides };
    all.push(parts);
  }
  return all;
}

function whyNotReady(
  engines: readonly EngineHandle[],
  starting: ReadonlySet<EngineHandle>,
  traffic: Traffic,
): string[] {
  if (traffic.stopping) return ['the service is stopping'];
  const broken = engines.filter(engine => !engine.status().usable);
  const awaited = [...starting].filter(engine => !broken.includes(engine));
  return [
    ...awaited.map(({ name }) => `${name} is starting`),
    ...broken.map(({ name }) => `${name} could not be started; the log has the reason`),
  ];
}

/** Starts them side by side; each is taken out of the set when it is ready. */
async function startEngines(starting: Set<EngineHandle>, timeout: number, log: Logger): Promise<void> {
  const cancel = systemClock.after(timeout, () => {
    const names = [...starting].map(({ name }) => name).join(', ');
    log.warn({ ms: timeout }, `not ready yet, still trying: ${names}`);
  });
  const launches = [...starting].map(async engine => {
    await engine.launch();
    starting.delete(engine);
  });
  for (const { status, ...result } of await Promise.allSettled(launches)) {
    if (status === 'rejected') log.error({ err: (result as PromiseRejectedResult).reason }, 'an engine did not start');
  }
  cancel();
}

interface Running extends BootOptions {
  readonly engines: readonly EngineHandle[];
  readonly traffic: Traffic;
  readonly listener: Listener;
  readonly runner: Runner;
  readonly temp: TempRoot;
}

async function stop({ settings, log, engines, traffic, listener, runner, temp }: Running): Promise<void> {
  const { gracefulShutdownDuration } = settings.of(coreSettings);
  log.info({ active: traffic.active, ms: gracefulShutdownDuration }, 'shutting down');
  traffic.stop();
  const cancel = systemClock.after(gracefulShutdownDuration, () => traffic.endPatience());
  await Promise.race([traffic.drained(), aborted(traffic.patience)]);
  if (traffic.patience.aborted) await atMost(LAST_ANSWERS_MS, traffic.drained());
  await listener.close();
  const ends = engines.map(engine => engine.shutdown(traffic.patience));
  const ended = await atMost(gracefulShutdownDuration + LAST_RESORT_MS, Promise.allSettled(ends));
  for (const end of ended ?? []) {
    if (end.status === 'rejected') log.error({ err: end.reason }, 'an engine did not end well');
  }
  cancel();
  await atMost(LAST_RESORT_MS, endOf(runner));
  killAllChildren();
  await temp[Symbol.asyncDispose]();
  log.info('stopped');
}

async function endOf(runner: Runner): Promise<void> {
  runner.kill();
  await runner.wait().catch(() => {});
}

/** What `work` gives, or undefined when it takes longer. */
function atMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = systemClock.after(ms, () => resolve(undefined));
    work.then(resolve, reject).finally(cancel);
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
