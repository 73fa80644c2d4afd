import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { EngineHandle } from '../module.ts';
import type { EngineStatus } from '../supervise/supervisor.ts';

/** One request that has ended, in labels of which there are few. */
export interface RequestFacts {
  /** The path under which the route is declared; undefined where there is no such route. */
  readonly route: string | undefined;
  readonly method: string | undefined;
  readonly status: number;
  readonly ms: number;
  /** As declared by its client; not known is 0. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface Metrics {
  /** Counts a request. */
  observe(request: RequestFacts): void;
  /** Everything, read now, in the text format of Prometheus. */
  text(): Promise<string>;
}

/** The service's own metrics; `docs/metrics.md` lists them. */
export function createMetrics(engines: readonly EngineHandle[]): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'platen_' });
  engineMetrics(engines, registry);
  return { observe: requestMetrics(registry), text: () => registry.metrics() };
}

/** The gauges of the compatible API, in its order and to its last byte. */
export function createCompatibleMetrics(namespace: string, engines: readonly EngineHandle[]): () => Promise<string> {
  const registry = new Registry();
  for (const engine of engines.filter(({ inHealth }) => inHealth).toSorted((a, b) => a.id.localeCompare(b.id))) {
    const gauge = (name: string, help: string, read: (status: EngineStatus) => number) =>
      new Gauge({
        name: `${namespace}_${engine.id}_${name}`,
        help,
        registers: [registry],
        collect() {
          this.set(read(engine.status()));
        },
      });
    const queue = `Current number of ${engine.name} conversion requests waiting to be treated.`;
    gauge('requests_queue_size', queue, ({ queueSize }) => queueSize);
    gauge('restarts_count', `Current number of ${engine.name} restarts.`, ({ restarts }) => restarts);
  }
  // The library parts metrics by an empty line, which the compatible API does not.
  return async () => (await registry.metrics()).replaceAll('\n\n', '\n');
}

type Sample = readonly [labels: Record<string, string>, value: number];

/** Everything is taken from the engines' own state when it is asked for, so nothing is counted twice. */
function engineMetrics(engines: readonly EngineHandle[], registry: Registry): void {
  const declare =
    (Kind: typeof Counter | typeof Gauge) =>
    (name: string, help: string, label: string | undefined, read: (status: EngineStatus) => readonly Sample[]) =>
      new Kind({
        name: `platen_engine_${name}`,
        help,
        labelNames: label === undefined ? ['engine'] : ['engine', label],
        registers: [registry],
        collect() {
          this.reset();
          for (const { id, status } of engines.map(engine => ({ id: engine.id, status: engine.status() }))) {
            for (const [labels, value] of read(status)) this.inc({ engine: id, ...labels }, value);
          }
        },
      });
  const [counter, gauge] = [declare(Counter), declare(Gauge)];
  gauge('queue_size', 'Requests that wait for a slot.', undefined, s => one(s.queueSize));
  gauge('active_tasks', 'Slots in use.', undefined, s => one(s.activeTasks));
  gauge('waiting_victims', 'Tasks that wait for their other chance.', undefined, s => one(s.waitingVictims));
  gauge('marked_documents', 'Documents that get one attempt only.', undefined, s => one(s.markedDocuments));
  counter('starts_total', 'Instances that became ready.', 'reason', s => byReason(s.startsByReason));
  counter('restarts_total', 'Instances that were replaced.', 'reason', s => byReason(s.restartsByReason));
  counter('kills_total', 'Instances that were ended by force.', 'reason', s => byReason(s.killsByReason));
  for (const [name, what, times] of TIMES) {
    counter(`${name}_seconds_total`, `Time ${what}.`, undefined, s => one(s[times].totalMs / 1000));
    counter(`${name}s_total`, `How often there was time ${what}.`, undefined, s => one(s[times].count));
    gauge(`${name}_longest_seconds`, `The longest time ${what}.`, undefined, s => one(s[times].longestMs / 1000));
  }
  const perInstance =
    (read: (instance: EngineStatus['instances'][number]) => number | undefined) => (s: EngineStatus) =>
      s.instances.flatMap((instance): Sample[] => {
        const value = read(instance);
        return value === undefined ? [] : [[{ instance: instance.id }, value]];
      });
  gauge(
    'instance_resident_bytes',
    'Memory of its process tree.',
    'instance',
    perInstance(i => i.residentBytes),
  );
  gauge(
    'instance_state_seconds',
    'How long it has been in its state.',
    'instance',
    perInstance(i => i.sinceMs / 1000),
  );
  gauge(
    'instance_served_tasks',
    'Tasks that it has served.',
    'instance',
    perInstance(i => i.servedTasks),
  );
}

const TIMES = [
  ['start_time', 'that starts took', 'startTimes'],
  ['queue_time', 'that requests waited for a slot', 'queueTimes'],
  ['run_time', 'that tasks ran', 'runTimes'],
] as const;

function one(value: number): readonly Sample[] {
  return [[{}, value]];
}

function byReason(counts: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(counts).map(([reason, count]) => [{ reason }, count]);
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']);

function requestMetrics(registers: Registry): (request: RequestFacts) => void {
  const registry = [registers];
  const labelNames = ['route', 'method', 'status'] as const;
  const requests = new Counter({
    name: 'platen_http_requests_total',
    help: 'Requests.',
    labelNames,
    registers: registry,
  });
  const seconds = new Histogram({
    name: 'platen_http_request_duration_seconds',
    help: 'From the headers of a request to the last byte of its answer.',
    labelNames: ['route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: registry,
  });
  const bytes = (way: string, help: string) =>
    new Counter({ name: `platen_http_${way}_bytes_total`, help, labelNames: ['route'], registers: registry });
  const received = bytes('received', 'Bytes of bodies, as their clients declared them.');
  const sent = bytes('sent', 'Bytes of answers, headers included.');
  return ({ route = 'none', method = '', status, ms, bytesIn, bytesOut }) => {
    requests.inc({ route, method: METHODS.has(method) ? method : 'other', status: `${Math.floor(status / 100)}xx` });
    seconds.observe({ route }, ms / 1000);
    received.inc({ route }, bytesIn);
    sent.inc({ route }, bytesOut);
  };
}
