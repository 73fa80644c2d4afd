import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Failure } from '../../src/failure/failure.ts';
import { Runner } from '../../src/supervise/runner.ts';
import { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import type { RunOptions, SupervisorSettings } from '../../src/supervise/types.ts';
import { systemClock } from '../../src/time/clock.ts';
import { type LogLine, loggerInto, SETTINGS } from '../helpers/press.ts';
import { childrenOf, zombiesOf } from '../helpers/processes.ts';
import { ProgramProcess } from '../helpers/program-process.ts';
import { within } from '../helpers/within.ts';

/* The same promises as in the tests with the fake clock, on real programs: real pipes, signals and time. */

let folder: string;
let lines: LogLine[];
let runner: Runner;
let supervisor: ProcessSupervisor<ProgramProcess>;
const made: ProgramProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platen-programs-'));
  lines = [];
  made.length = 0;
});

afterEach(async () => {
  await within(10_000, 'the shutdown', supervisor.shutdown(AbortSignal.abort()));
  runner.kill();
  await within(5000, 'the runner', runner.wait());
  expect([await childrenOf(process.pid), await zombiesOf(process.pid)]).toEqual([[], []]);
  expect((await readdir(folder)).filter(name => name.startsWith('program-'))).toEqual([]);
  await rm(folder, { recursive: true });
});

function supervise(name: string, settings: Partial<SupervisorSettings> = {}, args: readonly string[] = []): void {
  const surroundings = { clock: systemClock, random: Math.random };
  const log = loggerInto(lines);
  runner = new Runner({ surroundings, log });
  supervisor = new ProcessSupervisor<ProgramProcess>({
    engine: 'program',
    name: 'Program',
    settings: { ...SETTINGS, ...settings },
    runner,
    surroundings,
    log,
    create: id => {
      const program = new ProgramProcess(id, name, { folder, args });
      made.push(program);
      return program;
    },
  });
}

/** A request with a deadline, as the http layer makes them. */
function limited(ms: number): RunOptions {
  const limit = new AbortController();
  systemClock.after(ms, () => limit.abort(new Failure('TIME_LIMIT')));
  return { signal: limit.signal, deadline: systemClock.now() + ms };
}

/** Sends a signal to all programs that run. */
function send(signal: NodeJS.Signals): void {
  for (const { pid, healthy } of made) if (healthy && pid !== undefined) process.kill(pid, signal);
}

const echo = (text: string, options: RunOptions = limited(20_000)): Promise<string> =>
  within(
    20_000,
    `the echo of ${text}`,
    supervisor.run(program => program.call<string>('echo', { text }), options),
  );

test('a program that starts slowly: all who come meanwhile wait for the one start', async () => {
  supervise('slow-start', { maxConcurrency: 4 }, ['300']);
  expect(await Promise.all(['a', 'b', 'c'].map(text => echo(text)))).toEqual(['a', 'b', 'c']);
  expect(made).toHaveLength(1);
});

test('a program that never becomes ready: each start is ended in its time, and who waits is told', async () => {
  supervise('never-ready', { startTimeout: 300 });
  const began = systemClock.now();
  await expect(echo('a', limited(1500))).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  expect(systemClock.now() - began).toBeLessThan(2500);
  expect(made.length).toBeGreaterThan(1);
  expect(supervisor.healthy).toBe(false);
  await expect.poll(() => childrenOf(process.pid), { timeout: 5000, interval: 20 }).toEqual([]);
});

test('a program that fails its first two starts: the request waits and is served', async () => {
  supervise('breaks-twice', {}, [join(folder, 'starts')]);
  expect(await echo('a')).toBe('a');
  expect(made).toHaveLength(3);
  const failures = lines.filter(({ text }) => text.includes('starts again')).map(({ fields }) => String(fields.err));
  expect(failures).toHaveLength(2);
  expect(failures[0]).toContain('no license today');
});

test('a program that is not there: who waits is told, and the log has its last words', async () => {
  supervise('no-such-program');
  await expect(echo('a', limited(2000))).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  expect(JSON.stringify(lines.map(({ fields }) => String(fields.err)))).toContain('MODULE_NOT_FOUND');
});

test('a program that dies of every fourth request: all requests are answered', async () => {
  supervise('dies-after', { instances: 2 }, ['3']);
  const texts = Array.from({ length: 40 }, (_, at) => `page ${at}`);
  expect(await Promise.all(texts.map(text => echo(text)))).toEqual(texts);
  expect(supervisor.status().restartsByReason.crash).toBeGreaterThanOrEqual(10);
  expect([supervisor.activeTasks, supervisor.queueSize]).toEqual([0, 0]);
});

test('a document that kills every program it meets: told so, with the last words in the log', async () => {
  supervise('dies-after', { instances: 1 }, ['0']);
  await expect(echo('blank')).rejects.toMatchObject({ code: 'CRASHED_TWICE' });
  const [line] = lines.filter(({ text }) => text.includes('crashed its engine twice'));
  expect(String(line?.fields.err)).toContain('out of paper at blank');
});

test('a program that hangs without using the processor is found within 4 s; its victim is told of a second hang', async () => {
  supervise('hangs');
  const began = systemClock.now();
  await expect(echo('a', limited(15_000))).rejects.toMatchObject({ code: 'CRASHED_TWICE' });
  expect(systemClock.now() - began).toBeLessThan(12_000);
  expect(supervisor.status().killsByReason.frozen).toBeGreaterThanOrEqual(2);
});

test('one that is frozen from outside is found, and its victim is answered', async () => {
  supervise('echo');
  expect(await echo('first')).toBe('first');
  send('SIGSTOP');
  expect(await echo('second')).toBe('second');
  expect(supervisor.status().killsByReason).toEqual({ frozen: 1 });
});

test('one that burns the processor is not taken for frozen; it ends at its deadline, and the next is served', async () => {
  supervise('echo');
  const burn = supervisor.run(program => program.call('burn'), limited(5000));
  const began = systemClock.now();
  await expect(within(10_000, 'the deadline', burn)).rejects.toMatchObject({ code: 'TIME_LIMIT' });
  expect(systemClock.now() - began).toBeGreaterThan(5000);
  expect(supervisor.status().killsByReason).toEqual({ deadline: 1 });
  expect(await echo('next')).toBe('next');
});

test('killed in the middle of many requests: every one is answered', async () => {
  supervise('echo', { instances: 2, maxConcurrency: 2 });
  await echo('warm');
  const texts = Array.from({ length: 60 }, (_, at) => `page ${at}`);
  const all = Promise.all(texts.map(text => echo(text)));
  send('SIGKILL');
  expect(await all).toEqual(texts);
});

test('renewal under load: no request fails of it, or is done twice', async () => {
  supervise('slow-start', { instances: 2, restartAfter: 10 }, ['100']);
  await within(10_000, 'the launch', supervisor.launch());
  const attempts: number[] = [];
  const client = async (name: string) => {
    for (let page = 0; page < 1000 && supervisor.status().restarts < 5; page += 1) {
      const text = `${name} ${page}`;
      expect(await echo(text, { ...limited(20_000), trace: trace => attempts.push(trace.attempts) })).toBe(text);
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(client));
  expect(supervisor.status().restartsByReason).toEqual({ count: 5 });
  expect(new Set(attempts)).toEqual(new Set([1]));
});

test('a grandchild goes with its program, and idle programs are stopped', async () => {
  supervise('echo', { idleShutdownTimeout: 200 });
  await supervisor.run(program => program.call('child'), limited(5000));
  expect((await childrenOf(process.pid)).length).toBe(2);
  await expect.poll(() => childrenOf(process.pid), { timeout: 5000, interval: 20 }).toEqual([]);
  expect(await echo('again')).toBe('again');
  expect(made.map(({ id }) => id)).toEqual(['program-1.1', 'program-1.2']);
});

test('shutdown under load finishes what was accepted and leaves nothing', async () => {
  supervise('echo', { instances: 2 });
  const texts = Array.from({ length: 30 }, (_, at) => `page ${at}`);
  const all = Promise.all(texts.map(text => echo(text)));
  await within(10_000, 'the shutdown', supervisor.shutdown(new AbortController().signal));
  expect(await all).toEqual(texts);
  await expect(echo('late')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
});
