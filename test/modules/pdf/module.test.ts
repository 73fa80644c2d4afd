import { execFile } from 'node:child_process';
import { mkdtemp, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pdf } from '../../../modules/pdf/index.ts';
import { pdfSettings } from '../../../modules/pdf/settings.ts';
import type { PdfTools } from '../../../src/capability/capabilities.ts';
import { Failure } from '../../../src/failure/failure.ts';
import type { EngineHandle, ModuleParts } from '../../../src/module.ts';
import { Runner } from '../../../src/supervise/runner.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { childrenOf } from '../../helpers/processes.ts';
import { within } from '../../helpers/within.ts';
import { Bench, fixturePath, look } from './pdf-help.ts';

const log = pino({ level: 'silent' });
const surroundings = { clock: systemClock, random: Math.random };
const defaults = Object.fromEntries(Object.entries(pdfSettings).map(([key, setting]) => [key, setting.default]));

let bench: Bench;
let runner: Runner;
let engine: EngineHandle | undefined;

beforeEach(async () => {
  bench = await Bench.create();
  runner = new Runner({ surroundings, log });
});

afterEach(async () => {
  await within(10_000, 'the engine to shut down', engine?.shutdown(AbortSignal.abort()) ?? Promise.resolve());
  engine = undefined;
  runner.kill();
  await within(10_000, 'the runner to end', runner.wait());
  expect(await childrenOf(process.pid)).toEqual([]);
  expect((await readdir(bench.folder)).filter(name => name.startsWith('pdf-'))).toEqual([]);
  await bench[Symbol.asyncDispose]();
});

/** The module as the service makes it, in a folder of the test. */
async function made(settings: Record<string, unknown> = {}): Promise<ModuleParts & { tools: PdfTools }> {
  const temp = { folder: (name: string) => mkdtemp(join(bench.folder, `${name}-`)) };
  const parts = await pdf.create({
    settings: { ...defaults, instances: 2, ...settings },
    log,
    surroundings,
    runner,
    temp,
    capabilities: {},
    environment: {},
  } as unknown as Parameters<typeof pdf.create>[0]);
  engine = parts.engine;
  return { ...parts, tools: parts.provides?.pdf as PdfTools };
}

const patient = () => ({ signal: new AbortController().signal });

/** A pipe as input: a plan with it waits until somebody writes. */
async function pipe(): Promise<string> {
  const path = bench.path();
  await promisify(execFile)('mkfifo', [path]);
  return path;
}

test('merges at once are all done, by several instances', async () => {
  const { tools } = await made();
  const plans = Array.from({ length: 8 }, () => bench.mergeOf([fixturePath('pages'), fixturePath('form-a')]));
  await within(20_000, 'eight merges', Promise.all(plans.map(plan => tools.apply(plan, patient()))));
  expect(await Promise.all(plans.map(async plan => (await look(plan.output)).pages))).toEqual(Array(8).fill(4));
  expect(engine?.status().instances).toHaveLength(2);
  expect(await engine?.version()).toMatch(/pikepdf \d.*qpdf \d/);
});

test('nothing starts before there is work, or launch is called', async () => {
  await made();
  expect(await childrenOf(process.pid)).toEqual([]);
  await within(20_000, 'the launch', engine?.launch() ?? Promise.resolve());
  expect((await childrenOf(process.pid)).length).toBeGreaterThan(0);
});

test('a bad document is the client’s fault: the instance serves on, without a second attempt', async () => {
  const { tools } = await made({ instances: 1 });
  const plan = { ...bench.mergeOf([]), inputs: [{ file: fixturePath('encrypted'), name: 'contract.pdf' }] };
  const error = await within(
    20_000,
    'the refusal',
    tools.apply(plan, patient()).catch(e => e),
  );
  expect(error).toMatchObject({ code: 'PDF_ENCRYPTED', facts: { file: 'contract.pdf' } });
  await within(5_000, 'the next merge', tools.apply(bench.mergeOf([fixturePath('letter')]), patient()));
  expect(engine?.status()).toMatchObject({ restarts: 0, activeTasks: 0, queueSize: 0 });
});

test('a merge whose worker is killed is done once more, and succeeds', async () => {
  const { tools } = await made({ instances: 1 });
  await within(20_000, 'the launch', engine?.launch() ?? Promise.resolve());
  const [worker] = await childrenOf(process.pid);
  const input = await pipe();
  const plan = bench.mergeOf([input, fixturePath('letter')]);
  const merge = tools.apply(plan, patient());
  const first = await within(5_000, 'the worker to read', open(input, 'w'));
  process.kill(worker ?? 0, 'SIGKILL');
  await vi.waitFor(async () => expect(await childrenOf(process.pid)).not.toContain(worker), 5_000);
  await first.close();
  const second = await within(10_000, 'another worker to read', open(input, 'w'));
  await second.writeFile(await readFile(fixturePath('pages')));
  await second.close();
  await within(10_000, 'the merge', merge);
  expect((await look(plan.output)).pages).toBe(4);
});

test('a merge that goes on past its deadline ends with its worker; the next one is served', async () => {
  const { tools } = await made({ instances: 1 });
  const deadline = new AbortController();
  const input = await pipe();
  const merge = tools.apply(bench.mergeOf([input]), { signal: deadline.signal }).catch(error => error);
  const writer = await within(20_000, 'the worker to read', open(input, 'w'));
  deadline.abort(new Failure('TIME_LIMIT'));
  expect(await within(10_000, 'the merge to be given up', merge)).toMatchObject({ code: 'TIME_LIMIT' });
  await within(20_000, 'the next merge', tools.apply(bench.mergeOf([fixturePath('letter')]), patient()));
  await writer.close();
});

test('without a Python the service says what to install', async () => {
  await expect(made({ pythonBinPath: '/nowhere/python3' })).rejects.toThrow(
    'There is no Python at /nowhere/python3. Install it (apt-get install python3 python3-pikepdf), or name another with PYTHON_BIN_PATH.',
  );
});

test('its routes can be left out; other modules still have its tools', async () => {
  expect((await made()).routes.map(route => route.path)).toEqual(['/forms/pdfengines/merge']);
  const without = await made({ disableRoutes: true });
  expect(without.routes).toEqual([]);
  expect(without.tools).toBeDefined();
});
