import { afterEach, expect, test } from 'vitest';
import { type Child, startChild } from '../../src/process/child.ts';
import { LineClient } from '../../src/process/line-client.ts';
import { groupIsEmpty, groupUsage, membersOf } from '../../src/process/process-group.ts';
import { program } from '../helpers/program-process.ts';
import { within } from '../helpers/within.ts';

let child: Child;
let client: LineClient;

async function start(): Promise<void> {
  child = await startChild({ command: process.execPath, args: [program('echo')], cwd: '/tmp', env: {} });
  client = new LineClient(child);
  await within(5000, 'the program to be ready', client.ready);
}

afterEach(() => child.end());

/** Until what is asked for holds; the kernel tells nobody. */
const until = <T>(what: () => Promise<T>) => expect.poll(what, { timeout: 5000, interval: 20 });

test('what a whole group holds is counted, children too', async () => {
  await start();
  const alone = (await groupUsage(child.pid))?.residentBytes ?? 0;
  const grandchild = await within(5000, 'a grandchild', client.call<number>('child'));
  expect((await membersOf(child.pid)).map(({ pid }) => pid)).toEqual([child.pid, grandchild]);
  expect(alone).toBeGreaterThan(5_000_000);
  expect((await groupUsage(child.pid))?.residentBytes).toBeGreaterThan(alone * 1.5);
});

test('a busy group gains processor time, an idle one does not', async () => {
  await start();
  const before = (await groupUsage(child.pid))?.cpuMs ?? Number.NaN;
  client.call('burn').catch(() => {});
  await until(async () => (await groupUsage(child.pid))?.cpuMs).toBeGreaterThan(before + 100);
  expect((await groupUsage(child.pid))?.stopped).toBe(false);
});

test('a stopped member is seen, and seen to go on', async () => {
  await start();
  const grandchild = await within(5000, 'a grandchild', client.call<number>('child'));
  process.kill(grandchild, 'SIGSTOP');
  await until(async () => (await groupUsage(child.pid))?.stopped).toBe(true);
  process.kill(grandchild, 'SIGCONT');
  await until(async () => (await groupUsage(child.pid))?.stopped).toBe(false);
});

test('a group that has ended uses nothing and is empty', async () => {
  await start();
  expect(await groupIsEmpty(child.pid)).toBe(false);
  await within(5000, 'the end', child.end());
  expect([await groupUsage(child.pid), await groupIsEmpty(child.pid)]).toEqual([undefined, true]);
});

test('a program whose name has spaces and parentheses in it is read right', async () => {
  await start();
  const name = 'a) S 1 (b c';
  const renamed = await startChild({
    command: process.execPath,
    args: ['-e', `process.title = ${JSON.stringify(name)}; process.stdin.resume()`],
    cwd: '/tmp',
    env: {},
  });
  await until(async () => (await membersOf(renamed.pid)).map(({ pid, group }) => [pid, group])).toEqual([
    [renamed.pid, renamed.pid],
  ]);
  await renamed.end();
});
