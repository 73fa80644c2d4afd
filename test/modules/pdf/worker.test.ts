import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failureOf } from '../../../modules/pdf/tools.ts';
import { EngineCrash } from '../../../src/supervise/types.ts';
import { within } from '../../helpers/within.ts';
import { Bench, fixturePath, onePage, PYTHON, pdfOf } from './pdf-help.ts';

const never = new AbortController().signal;
let bench: Bench;

beforeAll(async () => {
  bench = await Bench.create();
});
afterAll(() => bench[Symbol.asyncDispose]());

const instances = async () => (await readdir(bench.folder)).filter(name => name.startsWith('instance-'));

/** A file whose reading never ends, so that a plan with it stays under way. */
async function endless(): Promise<string> {
  const path = bench.path();
  await promisify(execFile)('mkfifo', [path]);
  return path;
}

test('it is ready once it has proved itself, says what it is, and leaves nothing behind when stopped', async () => {
  const worker = bench.worker();
  expect(worker.healthy).toBe(false);
  await within(20_000, 'the start', worker.start(never));
  expect(worker.healthy).toBe(true);
  expect(worker.versions?.pikepdf).toMatch(/^\d+\.\d+/);
  expect((await worker.usage())?.residentBytes).toBeGreaterThan(1_000_000);
  await within(5_000, 'the stop', Promise.all([worker.stop(), worker.stop()]));
  expect(await within(1_000, 'its end', worker.ended)).toBeUndefined();
  expect([worker.healthy, await worker.usage(), await instances()]).toEqual([false, undefined, []]);
});

test('it answers a ping while a plan is under way; stopped then, the plan fails at once', async () => {
  const worker = bench.worker();
  await within(20_000, 'the start', worker.start(never));
  const plan = worker.apply(bench.mergeOf([await endless()])).catch(error => error);
  await within(2_000, 'the answer to a ping', worker.ping());
  await worker.stop();
  expect(await within(1_000, 'the end of the plan', plan)).toBeInstanceOf(EngineCrash);
  await expect(worker.apply(bench.mergeOf([fixturePath('letter')]))).rejects.toBeInstanceOf(EngineCrash);
});

test('a start that is called off leaves no process and no folder', async () => {
  const worker = bench.worker();
  const giveUp = new AbortController();
  const started = worker.start(giveUp.signal);
  giveUp.abort(new Error('called off'));
  await expect(within(5_000, 'the start to settle', started)).rejects.toThrow('called off');
  expect([worker.healthy, await worker.usage(), await instances()]).toEqual([false, undefined, []]);
});

test('a Python without pikepdf fails to start and says what is missing', async () => {
  const python = bench.path('.sh');
  await writeFile(python, `#!/bin/sh\nexec ${PYTHON} -S "$@"\n`, { mode: 0o755 });
  const worker = bench.worker({ python });
  await expect(within(10_000, 'the start to fail', worker.start(never))).rejects.toThrow("No module named 'pikepdf'");
  expect(await instances()).toEqual([]);
});

test('a worker that dies says so, with its last lines, and takes its folder along', async () => {
  const worker = bench.worker();
  await within(20_000, 'the start', worker.start(never));
  const plan = worker.apply(bench.mergeOf([await endless()])).catch(error => error);
  process.kill(worker.pid ?? 0, 'SIGKILL');
  expect(await within(2_000, 'the plan to fail', plan)).toBeInstanceOf(EngineCrash);
  expect(await within(2_000, 'its end', worker.ended)).toBeInstanceOf(EngineCrash);
  expect([worker.healthy, await instances()]).toEqual([false, []]);
});

test('a document that needs more memory than allowed is its own failure; the worker serves on', async () => {
  const worker = bench.worker({ memoryLimit: 128 * 1024 * 1024 });
  await within(20_000, 'the start', worker.start(never));
  const file = bench.path();
  await writeFile(file, pdfOf(onePage(`/X[${'0 '.repeat(3_000_000)}]`)));
  const plan = bench.mergeOf([file]);
  const error = await within(
    15_000,
    'the refusal',
    worker.apply(plan).catch(e => e),
  );
  expect(failureOf(error, plan)).toMatchObject({ code: 'MEMORY_LIMIT' });
  await within(5_000, 'the next merge', worker.apply(bench.mergeOf([fixturePath('letter')])));
  await worker.stop();
});

test('it gives back the memory that large documents took, also when they fail', async () => {
  const worker = bench.worker();
  await within(20_000, 'the start', worker.start(never));
  const large = bench.path();
  const size = 20 * 1024 * 1024;
  const stream = Buffer.concat([
    Buffer.from(`<</Length ${size}>>stream\n`),
    randomBytes(size),
    Buffer.from('\nendstream'),
  ]);
  await writeFile(large, pdfOf([...onePage('/X 4 0 R'), stream]));
  const merge = (other: string) => within(10_000, 'a merge', worker.apply(bench.mergeOf([large, fixturePath(other)])));
  const held = async () => (await worker.usage())?.residentBytes ?? 0;
  await merge('outline');
  const before = await held();
  for (let round = 0; round < 4; round += 1) {
    await merge('outline');
    await expect(merge('loop')).rejects.toThrow('Loop');
  }
  expect((await held()) - before).toBeLessThan(size);
  await worker.stop();
});

test('a full disk is told from a bad document', async () => {
  const worker = bench.worker();
  await within(20_000, 'the start', worker.start(never));
  const plan = { ...bench.mergeOf([fixturePath('letter')]), output: '/dev/full' };
  const error = await within(
    5_000,
    'the failure',
    worker.apply(plan).catch(e => e),
  );
  expect(failureOf(error, plan)).toMatchObject({ code: 'DISK_FULL' });
  await worker.stop();
});

test('it ends by itself when its stdin ends, also in the middle of a plan', async () => {
  const program = join(import.meta.dirname, '../../../modules/pdf/python/worker.py');
  const child = spawn(PYTHON, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  await within(10_000, 'its ready line', once(child.stdout, 'data'));
  const plan = { inputs: [await endless()], steps: [{ do: 'merge', outline: 'none' }], output: bench.path() };
  child.stdin.end(`${JSON.stringify({ id: 1, do: 'apply', plan })}\n`);
  expect(await within(2_000, 'its exit', exit)).toEqual([0, null]);
});
