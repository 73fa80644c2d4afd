import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { type Child, type ChildSpec, killAllChildren, startChild } from '../../src/process/child.ts';
import { LineClient } from '../../src/process/line-client.ts';
import { groupsOf } from '../helpers/processes.ts';
import { program } from '../helpers/program-process.ts';
import { within } from '../helpers/within.ts';

const children: Child[] = [];

async function start(name: string, spec: Partial<ChildSpec> & { args?: string[] } = {}): Promise<Child> {
  const { args = [], ...rest } = spec;
  const child = await startChild({
    command: process.execPath,
    args: [program(name), ...args],
    cwd: tmpdir(),
    env: {},
    ...rest,
  });
  children.push(child);
  return child;
}

async function ready(child: Child): Promise<LineClient> {
  const client = new LineClient(child);
  await within(5000, 'the program to be ready', client.ready);
  return client;
}

/** A shell that does as it is told. */
const shell = (script: string, spec: Partial<ChildSpec> = {}) =>
  startChild({ command: '/bin/sh', args: ['-c', script], cwd: tmpdir(), env: {}, ...spec });

afterEach(() => {
  for (const child of children.splice(0)) child.kill();
});

test('a program that is not there is an error at once, with its name', async () => {
  await expect(startChild({ command: '/no/such/program', args: [], cwd: tmpdir(), env: {} })).rejects.toMatchObject({
    code: 'ENOENT',
    path: '/no/such/program',
  });
});

test('a program that may not be run is an error at once', async () => {
  await expect(startChild({ command: '/etc/passwd', args: [], cwd: tmpdir(), env: {} })).rejects.toMatchObject({
    code: 'EACCES',
  });
});

test('a child sees only what it is given, nothing of our environment', async () => {
  const child = await shell('/usr/bin/env >&2', { env: { LANG: 'C.UTF-8' } });
  const { lastLines } = await within(5000, 'its end', child.ended);
  expect(lastLines.filter(line => !/^(PWD|_|SHLVL|OLDPWD)=/.test(line))).toEqual(['LANG=C.UTF-8']);
});

test('asked to end, a program that obeys ends by itself', async () => {
  const child = await start('echo');
  await ready(child);
  expect(await within(5000, 'the end', child.end(5000))).toEqual({ forced: false });
  expect(await child.ended).toMatchObject({ signal: 'SIGTERM' });
  expect([child.running, await groupsOf([child.pid])]).toEqual([false, []]);
});

test('one that ignores SIGTERM is killed after its grace', async () => {
  const child = await start('stubborn');
  await ready(child);
  expect(await within(5000, 'the end', child.end(100))).toEqual({ forced: true });
  expect([await child.ended, await groupsOf([child.pid])]).toEqual([
    expect.objectContaining({ signal: 'SIGKILL' }),
    [],
  ]);
});

test('one that is frozen is killed too', async () => {
  const child = await start('echo');
  await ready(child);
  child.kill('SIGSTOP');
  expect(await within(5000, 'the end', child.end(100))).toEqual({ forced: true });
  expect(await groupsOf([child.pid])).toEqual([]);
});

test('its children go with it, also those that ignore SIGTERM', async () => {
  const child = await start('echo');
  const client = await ready(child);
  const grandchild = await within(5000, 'a grandchild', client.call<number>('child'));
  expect(await groupsOf([child.pid])).toEqual(expect.arrayContaining([child.pid, grandchild]));
  await within(5000, 'the end', child.end(5000));
  expect(await groupsOf([child.pid, grandchild])).toEqual([]);
});

test('when it dies by itself its children are killed at once', async () => {
  const child = await start('echo');
  const client = await ready(child);
  const grandchild = await within(5000, 'a grandchild', client.call<number>('child'));
  process.kill(child.pid, 'SIGKILL');
  await within(5000, 'its end', child.ended);
  await within(5000, 'the end of all', child.end());
  expect(await groupsOf([grandchild])).toEqual([]);
});

test('its ending tells code, signal and last words, to the last', async () => {
  const child = await start('echo');
  const client = await ready(child);
  const words = Array.from({ length: 200 }, (_, at) => `word ${at}`).join('\n');
  client.call('exit', { code: 7, text: `${words}\nthe last` }).catch(() => {});
  const ending = await within(5000, 'its end', child.ended);
  expect([ending.exitCode, ending.signal, ending.lastLines.length]).toEqual([7, null, 30]);
  expect(ending.lastLines.slice(-2)).toEqual(['word 199', 'the last']);
});

test('its end does not wait for a stranger that holds its output open', async () => {
  const stranger = "p=$(/usr/bin/setsid --fork /bin/sh -c 'echo $$; exec /bin/sleep 9 >/dev/null')";
  const child = await shell(`${stranger}; echo $p >&2; exit 4`);
  const ending = await within(2000, 'its end', child.ended);
  expect([ending.exitCode, await groupsOf([Number(ending.lastLines[0])])]).toEqual([4, [Number(ending.lastLines[0])]]);
  process.kill(Number(ending.lastLines[0]), 'SIGKILL');
});

test('output that nobody reads does not hold it up', async () => {
  const child = await shell('/usr/bin/head -c 1000000 /dev/zero; exit 5');
  expect(await within(5000, 'its end', child.ended)).toMatchObject({ exitCode: 5 });
});

test('writing to one that has ended is no error of ours', async () => {
  const child = await shell('exit 0');
  await within(5000, 'its end', child.ended);
  child.stdin.write('too late\n');
  await new Promise(resolve => setImmediate(resolve));
});

test('extra pipes: descriptor 3 is read by it, 4 is written', async () => {
  const child = await shell('read line <&3; echo "got $line" >&4', { extraPipes: 2 });
  const answer = once(createInterface({ input: child.pipe(4) }), 'line');
  child.pipe(3).write('hello\n');
  expect(await within(5000, 'the answer', answer)).toEqual(['got hello']);
  await within(5000, 'its end', child.ended);
});

test('it dies with its parent, however that dies', async () => {
  const parent = `
    import { startChild } from ${JSON.stringify(new URL('../../src/process/child.ts', import.meta.url).pathname)};
    const child = await startChild({ command: process.execPath, args: [${JSON.stringify(program('stubborn'))}], cwd: '/tmp', env: {} });
    child.stdout.once('data', () => process.stderr.write(child.pid + '\\n', () => process.kill(process.pid, 'SIGKILL')));
  `;
  const child = await startChild({
    command: process.execPath,
    args: ['--input-type=module', '-e', parent],
    cwd: tmpdir(),
    env: {},
  });
  const { lastLines, signal } = await within(10_000, 'the end of the parent', child.ended);
  expect(signal).toBe('SIGKILL');
  await expect.poll(() => groupsOf([Number(lastLines[0])]), { timeout: 2000, interval: 10 }).toEqual([]);
});

test('all children can be killed within one call, and later kills of them hit nobody', async () => {
  const child = await start('stubborn');
  await ready(child);
  killAllChildren();
  expect(await within(5000, 'its end', child.ended)).toMatchObject({ signal: 'SIGKILL' });
  await within(5000, 'the end', child.end());
  const { kill } = process;
  const killed: unknown[] = [];
  process.kill = (...args) => {
    killed.push(args);
    return true;
  };
  try {
    child.kill();
    await child.end();
  } finally {
    process.kill = kill;
  }
  expect(killed).toEqual([]);
});

test('ended by many at once, it ends once', async () => {
  const child = await start('stubborn');
  await ready(child);
  await within(5000, 'all ends', Promise.all([child.end(50), child.end(), child.end(50)]));
  expect(await groupsOf([child.pid])).toEqual([]);
});
