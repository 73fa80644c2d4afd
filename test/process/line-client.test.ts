import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Child, startChild } from '../../src/process/child.ts';
import { LineClient, WorkerError } from '../../src/process/line-client.ts';
import { EngineCrash } from '../../src/supervise/types.ts';
import { program } from '../helpers/program-process.ts';
import { within } from '../helpers/within.ts';

let child: Child;
let client: LineClient;

async function start(name: string): Promise<void> {
  child = await startChild({ command: process.execPath, args: [program(name)], cwd: '/tmp', env: {} });
  client = new LineClient(child);
}

beforeEach(() => start('echo'));
afterEach(() => child.end());

const call = <T>(verb: string, params: object = {}) =>
  within(5000, `the answer to ${verb}`, client.call<T>(verb, params));

test('a worker says once what it is, then answers', async () => {
  expect(await within(5000, 'the worker to be ready', client.ready)).toEqual({ pid: child.pid });
  expect(await call('echo', { text: 'Grüße, 世界\n"quoted"' })).toBe('Grüße, 世界\n"quoted"');
});

test('answers find their questions, in whatever order they come', async () => {
  client.call('wait').catch(() => {});
  expect(await Promise.all([call('echo', { text: 'a' }), call('ping'), call('echo', { text: 'b' })])).toEqual([
    'a',
    'pong',
    'b',
  ]);
});

test('what the worker could not do is its error, with code and facts; it serves on', async () => {
  const error = await call('fail', { text: 'no such page' }).catch(e => e);
  expect(error).toBeInstanceOf(WorkerError);
  expect(error).toMatchObject({ code: 'FAILED', facts: { verb: 'fail' }, message: 'no such page' });
  expect(await call('ping')).toBe('pong');
});

test('what is no message on its output is passed over', async () => {
  for (const text of ['hello', '{"half', '[1]', 'null', '{"id":4711,"ok":1}', '"text"', '17']) {
    await call('chatter', { text });
  }
  expect(await call('ping')).toBe('pong');
});

test('when it dies, all that it owes fails, with how it ended and its last words', async () => {
  await within(5000, 'the worker to be ready', client.ready);
  const owed = [client.call('wait'), client.call('exit', { code: 9, text: 'paper jam' })];
  for (const promise of owed) {
    const failed = within(5000, 'the failure', promise);
    await expect(failed).rejects.toBeInstanceOf(EngineCrash);
    await expect(failed).rejects.toThrow(/code 9.*paper jam/s);
  }
  await expect(client.call('ping')).rejects.toBeInstanceOf(EngineCrash);
});

test('one that dies before it is ready never will be', async () => {
  await child.end();
  await start('never-ready');
  child.kill();
  await expect(within(5000, 'the end of waiting', client.ready)).rejects.toBeInstanceOf(EngineCrash);
});

test('an answer that it gave just before it died counts', async () => {
  await within(5000, 'the worker to be ready', client.ready);
  for (let round = 0; round < 20; round += 1) {
    const last = client.call('last-words');
    expect(await within(5000, 'the last answer', last)).toBe('done');
    await within(5000, 'its end', child.ended);
    await start('echo');
    await within(5000, 'the worker to be ready', client.ready);
  }
});

test('a very long message arrives whole', async () => {
  const text = 'x'.repeat(3_000_000);
  expect(await call<string>('echo', { text })).toHaveLength(text.length);
});
