import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { within } from '../helpers/within.ts';

// What npm runs, with a stand-in for the service that tells each signal it gets and ends with code 7 when told "end".
const WRAPPER = `
  import { runService } from ${JSON.stringify(new URL('../../src/setup/run-service.mjs', import.meta.url).href)};
  const [root, ...args] = process.argv.slice(1);
  const end = runService(root, args, address => console.log('listening at', address), { sameAskingMs: 5000 });
  process.on('SIGINT', () => console.log('npm start got SIGINT'));
  process.exitCode = await end;
`;
const SERVICE = `
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => console.log('service got', signal));
  process.on('SIGUSR2', () => process.exit(7));
  const alive = setInterval(() => {}, 1000);
  console.log('service is', process.pid, ...process.argv.slice(2));
  process.send?.({ listening: 'http://here' });
`;

let root: string;
let wrapper: ChildProcess;
let lines: AsyncIterator<string>;
let servicePid: number;

const nextLine = async () => (await within(10_000, 'a line', lines.next())).value;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'platen-start-'));
  await mkdir(join(root, 'node_modules/node/bin'), { recursive: true });
  await mkdir(join(root, 'src'));
  await symlink(process.execPath, join(root, 'node_modules/node/bin/node'));
  await writeFile(join(root, 'package.json'), '{"type":"module"}');
  await writeFile(join(root, 'src/main.ts'), SERVICE);
  const args = ['--input-type=module', '-e', WRAPPER, root, '--api-port=3001'];
  wrapper = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (!wrapper.stdout) throw new Error('no output');
  lines = createInterface({ input: wrapper.stdout })[Symbol.asyncIterator]();
  const [, pid, options] = /^service is (\d+) (.*)$/.exec(await nextLine()) ?? [];
  servicePid = Number(pid);
  expect(options).toBe('--api-port=3001');
  expect(await nextLine()).toBe('listening at http://here');
});

afterEach(async () => {
  for (const pid of [servicePid, wrapper.pid ?? 0]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended
    }
  }
  await rm(root, { recursive: true });
});

test('a Ctrl-C that comes from the terminal and from npm reaches the service once', async () => {
  wrapper.kill('SIGINT');
  expect([await nextLine(), await nextLine()].toSorted()).toEqual(['npm start got SIGINT', 'service got SIGINT']);
  wrapper.kill('SIGINT');
  expect(await nextLine()).toBe('npm start got SIGINT');
  // Had it been passed on, it would have come before this.
  process.kill(servicePid, 'SIGUSR2');
  const ended = once(wrapper, 'exit');
  expect((await within(10_000, 'the output to end', lines.next())).done).toBe(true);
  expect(await within(10_000, 'npm start to end', ended)).toEqual([7, null]);
});

test('the exit code of the service is that of npm start', async () => {
  const ended = once(wrapper, 'exit');
  process.kill(servicePid, 'SIGUSR2');
  expect(await within(10_000, 'npm start to end', ended)).toEqual([7, null]);
});

test('a service that is killed ends npm start with the code of its signal', async () => {
  const ended = once(wrapper, 'exit');
  process.kill(servicePid, 'SIGKILL');
  expect(await within(10_000, 'npm start to end', ended)).toEqual([137, null]);
});

test('a terminal that is closed, or a npm start that is killed, asks the service to stop', async () => {
  wrapper.kill('SIGHUP');
  expect(await nextLine()).toBe('service got SIGTERM');
  wrapper.kill('SIGKILL');
  expect(await nextLine()).toBe('service got SIGTERM');
});
