import { expect, test } from 'vitest';
import { Names } from '../../src/egress/names.ts';
import { FakeClock, settle } from '../helpers/fake-clock.ts';
import { within } from '../helpers/within.ts';

const { signal } = new AbortController();

test('a name is asked for once for a while, also when two ask at the same time', async () => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const names = new Names(async host => [`10.0.0.${asked.push(host)}`], clock);
  const both = await Promise.all([names.lookUp('a.example', signal), names.lookUp('a.example.', signal)]);
  expect(both).toEqual([['10.0.0.1'], ['10.0.0.1']]);
  await clock.advance(29_000);
  expect(await names.lookUp('a.example', signal)).toEqual(['10.0.0.1']);
  await clock.advance(2_000);
  expect(await names.lookUp('a.example', signal)).toEqual(['10.0.0.2']);
});

test('localhost and what is below it never goes to a name server', async () => {
  const names = new Names(() => Promise.reject(new Error('was asked')), new FakeClock());
  expect(await names.lookUp('localhost', signal)).toEqual(['127.0.0.1', '::1']);
  expect(await names.lookUp('4f1c.localhost', signal)).toEqual(['127.0.0.1', '::1']);
  expect(await names.lookUp('notlocalhost', signal)).toEqual([]);
});

test('a page full of dead names asks for two at a time, so that other requests can resolve theirs', async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const names = new Names(host => {
    asked.push(host);
    return new Promise(settle => answers.push(() => settle(['10.0.0.1'])));
  }, new FakeClock());
  const all = ['a', 'b', 'c', 'd'].map(host => names.lookUp(host, signal));
  await settle();
  expect(asked).toEqual(['a', 'b']);
  answers[1]?.();
  await settle();
  expect(asked).toEqual(['a', 'b', 'c']);
  answers[0]?.();
  answers[2]?.();
  await settle();
  answers[3]?.();
  expect(await within(1000, 'all names', Promise.all(all))).toHaveLength(4);
});

test('a name that takes too long counts as not found, and its place stays taken until the resolver is done', async () => {
  const clock = new FakeClock();
  const names = new Names(() => new Promise(() => {}), clock);
  const found = names.lookUp('slow.example', signal);
  await clock.advance(10_000);
  expect(await within(1000, 'the answer', found)).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('what nobody waits for any more is never asked for', async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const names = new Names(host => {
    asked.push(host);
    return new Promise(settle => answers.push(() => settle([])));
  }, new FakeClock());
  for (const host of ['a', 'b', 'c']) void names.lookUp(host, signal);
  await settle();
  names.forget();
  for (const answer of answers) answer();
  await settle();
  expect(asked).toEqual(['a', 'b']);
});
