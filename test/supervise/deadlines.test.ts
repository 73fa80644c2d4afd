import { expect, test } from 'vitest';
import { Failure } from '../../src/failure/failure.ts';
import { settle } from '../helpers/fake-clock.ts';
import { Press } from '../helpers/press.ts';
import { within } from '../helpers/within.ts';

test('a task that ends by itself when its time is up costs nobody anything', async () => {
  const press = new Press();
  const job = await press.submit('job', { limit: 1000, obedient: true });
  const next = await press.submit('next');
  await press.pass(1000);
  expect([job.state, next.state, next.instance]).toEqual(['TIME_LIMIT', 'running', 'fake-1.1']);
  expect(press.process('fake-1.1').abandoned).toEqual([]);
});

test('one that does not is given half a second, then ended by the narrowest means; the instance serves on', async () => {
  const press = new Press({}, { abandon: 'ends it' });
  const job = await press.submit('job', { limit: 1000 });
  const next = await press.submit('next');
  await press.pass(1499);
  expect([job.state, next.state]).toEqual(['running', 'waiting']);
  await press.pass(1);
  expect([job.state, next.state, next.instance]).toEqual(['TIME_LIMIT', 'running', 'fake-1.1']);
  expect(press.process('fake-1.1').abandoned).toEqual([job.attempts[0]?.attempt]);
});

test('where there are no such means the instance is ended and replaced at once; only then does the run settle', async () => {
  const press = new Press({}, { abandon: 'cannot', stop: 300 }, {});
  const job = await press.submit('job', { limit: 1000 });
  const next = await press.submit('next');
  await press.pass(1799);
  expect([job.state, next.state]).toEqual(['running', 'waiting']);
  await press.pass(1);
  expect([job.state, next.state]).toEqual(['TIME_LIMIT', 'running']);
  expect([press.processes.length, press.process('fake-1.1').stops]).toEqual([2, 0]);
  const { killsByReason, restartsByReason } = press.supervisor.status();
  expect([killsByReason, restartsByReason]).toEqual([{ deadline: 1 }, { deadline: 1 }]);
});

test('means that take longer than a second count as none', async () => {
  const press = new Press({}, { abandon: 'silent' }, {});
  const job = await press.submit('job', { limit: 1000 });
  await press.pass(2499);
  expect([job.state, press.processes.length]).toEqual(['running', 1]);
  await press.pass(1);
  expect([job.state, press.processes.length]).toEqual(['TIME_LIMIT', 2]);
});

test('a client that leaves ends its work in the same way, and is told apart', async () => {
  const press = new Press({}, { abandon: 'cannot' });
  const job = await press.submit('job');
  await job.leave();
  await press.pass(500);
  expect([job.state, press.supervisor.status().killsByReason]).toEqual(['CLIENT_GONE', { 'client gone': 1 }]);
});

test('when an instance has to go for one task, its neighbours are done once more and succeed', async () => {
  const press = new Press({ maxConcurrency: 2 }, { abandon: 'cannot' }, {});
  const hung = await press.submit('hung', { limit: 1000 });
  const neighbour = await press.submit('neighbour');
  await press.pass(1500);
  expect(hung.state).toBe('TIME_LIMIT');
  await press.pass(500);
  await neighbour.finish();
  expect([neighbour.state, neighbour.attempts.length]).toEqual(['done', 2]);
});

test('a task that succeeds just after its time was up is still refused: its client has its answer', async () => {
  const press = new Press();
  const job = await press.submit('job', { limit: 1000 });
  await press.pass(1200);
  await job.finish();
  expect([job.state, press.supervisor.activeTasks]).toEqual(['TIME_LIMIT', 0]);
});

test('an early result is handed over at once; its slot is free when it is clean', async () => {
  const press = new Press();
  const job = await press.submit('job');
  const next = await press.submit('next');
  const clean = Promise.withResolvers<void>();
  await job.finishEarly(clean.promise);
  expect([job.state, job.value, next.state, press.supervisor.activeTasks]).toEqual(['done', 'result', 'waiting', 1]);
  clean.resolve();
  await settle();
  expect([next.state, next.instance]).toEqual(['running', 'fake-1.1']);
});

test('a slot that can not be cleaned costs its instance, not its result', async () => {
  const press = new Press();
  const job = await press.submit('job');
  const next = await press.submit('next');
  const clean = Promise.withResolvers<void>();
  await job.finishEarly(clean.promise);
  clean.reject(new Error('no'));
  await settle();
  expect([job.state, next.state, next.instance]).toEqual(['done', 'running', 'fake-1.2']);
  expect([press.alive, press.supervisor.status().restartsByReason]).toEqual([['fake-1.2'], { unclean: 1 }]);
});

test('a slot that is never clean does not stay taken for ever', async () => {
  const press = new Press();
  const job = await press.submit('job');
  await job.finishEarly(new Promise(() => {}));
  const next = await press.submit('next');
  await press.pass(10_000);
  expect([next.state, next.instance, press.alive]).toEqual(['running', 'fake-1.2', ['fake-1.2']]);
});

test('a result handed over after the time was up leaves its slot to be cleaned all the same', async () => {
  const press = new Press();
  const job = await press.submit('job', { limit: 1000 });
  await press.pass(1200);
  const clean = Promise.withResolvers<void>();
  await job.finishEarly(clean.promise);
  expect([job.state, press.supervisor.activeTasks]).toEqual(['TIME_LIMIT', 1]);
  clean.resolve();
  await settle();
  expect(press.supervisor.activeTasks).toBe(0);
});

test('a task whose signal has aborted before it began is not begun, though it has its slot', async () => {
  const press = new Press();
  const killer = await press.submit('killer', { fingerprint: 'abc' });
  for (let time = 0; time < 2; time += 1) {
    killer.process?.crash();
    await press.pass(1000);
  }
  expect(killer.state).toBe('CRASHED_TWICE');
  const gone = new AbortController();
  const hashed = Promise.withResolvers<string>();
  let begun = false;
  const work = async () => {
    begun = true;
  };
  const run = press.supervisor.run(work, { signal: gone.signal, fingerprint: () => hashed.promise });
  run.catch(() => {});
  await settle();
  expect(press.supervisor.activeTasks).toBe(1);
  gone.abort(new Failure('CLIENT_GONE'));
  hashed.resolve('def');
  await expect(within(1000, 'the run', run)).rejects.toMatchObject({ code: 'CLIENT_GONE' });
  expect([begun, press.supervisor.activeTasks]).toEqual([false, 0]);
});

test('an instance that can not be stopped is given up on: nobody waits for it for ever', async () => {
  const press = new Press({}, { abandon: 'cannot', stop: 1e8 }, {});
  const job = await press.submit('job', { limit: 1000 });
  const next = await press.submit('next');
  await press.pass(1500 + 15_000);
  expect([job.state, next.state]).toEqual(['TIME_LIMIT', 'running']);
  expect(press.logged('could not be ended cleanly')).toHaveLength(1);
});
