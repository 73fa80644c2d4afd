import { childrenOf, zombiesOf } from '../helpers/processes.ts';
import { Service } from '../helpers/service.ts';
import { commandOf, FAULTS } from './faults.ts';
import { closeConnections, converse, KINDS, type Outcome } from './traffic.ts';

export interface ChaosOptions {
  /** How long traffic and faults go on, in ms. */
  readonly ms: number;
  /** Time between two faults, in ms. */
  readonly everyMs: number;
  readonly clientsPerKind: number;
  /** Told of each fault as it happens. */
  readonly say?: (line: string) => void;
}

export interface Strike {
  readonly name: string;
  readonly at: number;
  /** ms until the next right answer to a request of that kind that began after it. */
  readonly recoveryMs: number | undefined;
}

export interface ChaosResult {
  readonly outcomes: readonly Outcome[];
  readonly strikes: readonly Strike[];
  /** What well-behaved requests were answered that wasn't right, by status and text. */
  readonly failures: ReadonlyMap<string, number>;
  /** Promises that were broken, in words; empty: none. */
  readonly broken: readonly string[];
  readonly zombies: number;
  /** Engine processes that are there when all is at rest, by program. */
  readonly census: ReadonlyMap<string, number>;
  readonly filesLeft: readonly string[];
  /** What the service logged of mistakes of its own. */
  readonly mistakes: readonly string[];
}

/** What there may be of each program at rest: what the settings below ask for. */
const MOST = [
  ['browser', /headless-shell.*--remote-debugging-pipe --user-data-dir/, 1],
  ['renderer', /headless-shell.*--type=renderer/, 6],
  ['soffice', /soffice\.bin -env/, 2],
  ['bridge', /bridge\.py/, 2],
  ['PDF worker', /worker\.py/, 2],
] as const;

const SETTINGS = {
  CHROMIUM_AUTO_START: 'true',
  LIBREOFFICE_AUTO_START: 'true',
  PDFENGINES_AUTO_START: 'true',
  CHROMIUM_MAX_CONCURRENCY: '6',
  LIBREOFFICE_INSTANCES: '2',
  PDFENGINES_INSTANCES: '2',
  API_TIMEOUT: '15s',
  LOG_LEVEL: 'warn',
};

/** How long the service may take to come to rest when nobody asks for anything any more, in ms. */
const REST_MS = 20_000;

/** Mixed traffic while engines are killed and stopped, hostile documents come and clients leave. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const { say = () => {} } = options;
  const service = await Service.start(SETTINGS);
  await using _ = service;
  await Promise.all(KINDS.map(kind => converse(service.url, kind, 'warm')));

  const outcomes: Outcome[] = [];
  const struck: { name: string; hits: string; at: number }[] = [];
  const end = performance.now() + options.ms;
  let count = 0;
  const clients = KINDS.flatMap(kind =>
    Array.from({ length: options.clientsPerKind }, async () => {
      while (performance.now() < end) outcomes.push(await converse(service.url, kind, `${kind.name}-${++count}`));
    }),
  );
  const striking = (async () => {
    for (let turn = 0; performance.now() + options.everyMs < end; turn += 1) {
      await new Promise(resolve => setTimeout(resolve, options.everyMs));
      const fault = FAULTS[turn % FAULTS.length];
      const at = performance.now();
      if (!fault || !(await fault.strike(service, `fault-${turn}`))) continue;
      struck.push({ name: fault.name, hits: fault.hits, at });
      say(`${((at - end + options.ms) / 1000).toFixed(1)} s: ${fault.name}`);
    }
  })();
  await Promise.all([...clients, striking]);

  await settled(service);
  const census = await atRest(service);
  const zombies = (await zombiesOf(service.process.pid ?? 0)).length;
  closeConnections();
  const { code } = await service.stop();
  const filesLeft = await service.leftovers();
  const strikes = struck.map(strike => ({ ...strike, recoveryMs: recoveryOf(strike, outcomes) }));
  const failures = countFailures(outcomes);
  const mistakes = service.output.filter(line => line.includes('"INTERNAL"'));
  const facts = { outcomes, strikes, failures, zombies, census, filesLeft, mistakes };
  return { ...facts, broken: judge(facts, code) };
}

function judge(facts: Omit<ChaosResult, 'broken'>, exitCode: number | null): string[] {
  const broken: string[] = [];
  for (const [what, times] of facts.failures) broken.push(`${times} × answered ${what}`);
  for (const { name, recoveryMs } of facts.strikes) {
    if (recoveryMs === undefined) continue;
    if (recoveryMs > 15_000) broken.push(`no right answer for ${Math.round(recoveryMs)} ms after: ${name}`);
  }
  if (facts.zombies > 0) broken.push(`${facts.zombies} zombies`);
  for (const [name, , most] of MOST) {
    const count = facts.census.get(name) ?? 0;
    if (count > most) broken.push(`${count} of ${name} at rest, at most ${most} are wanted`);
  }
  if (facts.filesLeft.length > 0) broken.push(`files left: ${facts.filesLeft.slice(0, 5).join(', ')}`);
  if (exitCode !== 0) broken.push(`exit code ${exitCode}`);
  return broken;
}

function countFailures(outcomes: readonly Outcome[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, status, right, text } of outcomes) {
    if (right) continue;
    const what = `${status || 'nothing'} for ${kind}: ${text.slice(0, 100)}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}

function recoveryOf(strike: { hits: string; at: number }, outcomes: readonly Outcome[]): number | undefined {
  const after = outcomes.filter(({ kind, right, began }) => kind === strike.hits && right && began >= strike.at);
  return after.length === 0 ? undefined : Math.min(...after.map(({ ended }) => ended)) - strike.at;
}

/** Waits until no request has a folder any more. */
async function settled(service: Service): Promise<void> {
  const limit = performance.now() + REST_MS;
  while ((await service.leftovers()).some(name => /\/r\d+$/.test(name)) && performance.now() < limit) await tick();
}

/** Counts its engines, as soon as there are no more of them than there may be. */
async function atRest(service: Service): Promise<Map<string, number>> {
  const limit = performance.now() + REST_MS;
  while (true) {
    const commands = (await childrenOf(service.process.pid ?? 0)).map(commandOf);
    const census = new Map(MOST.map(([name, what]) => [name, commands.filter(line => what.test(line)).length]));
    if (MOST.every(([name, , most]) => (census.get(name) ?? 0) <= most) || performance.now() > limit) return census;
    await tick();
  }
}

const tick = () => new Promise(resolve => setTimeout(resolve, 100));
