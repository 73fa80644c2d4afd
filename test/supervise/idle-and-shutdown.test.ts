import { expect, test } from 'vitest';
import { settle } from '../helpers/fake-clock.ts';
import { Press } from '../helpers/press.ts';
import { within } from '../helpers/within.ts';

const patience = () => new AbortController();

test('an engine without work is stopped after its time, and nothing of it is left', async () => {
  const press = new Press({ instances: 2, idleShutdownTimeout: 60_000 });
  const jobs = [await press.submit('a'), await press.submit('b')];
  for (const job of jobs) await job.finish();
  await press.pass(59_999);
  expect(press.alive).toEqual(['fake-1.1', 'fake-2.1']);
  await press.pass(1);
  expect([press.alive, press.clock.waiting, press.supervisor.healthy]).toEqual([[], 0, true]);
});

test('work puts the end off; what only the watchdog does, or a renewal, does not', async () => {
  const press = new Press({ idleShutdownTimeout: 60_000, maxAge: 20_000 });
  await (await press.submit('first')).finish();
  await press.pass(50_000);
  await (await press.submit('second')).finish();
  await press.pass(50_000);
  expect(press.alive).toHaveLength(1);
  expect(press.supervisor.status().restartsByReason.age).toBeGreaterThan(2);
  await press.pass(10_000);
  expect([press.alive, press.clock.waiting]).toEqual([[], 0]);
});

test('a task that comes in the moment of the stop is served, by a new generation', async () => {
  const press = new Press({ idleShutdownTimeout: 60_000 }, { stop: 500 }, {});
  await (await press.submit('first')).finish();
  await press.pass(60_000);
  const job = await press.submit('in that moment');
  expect([job.state, job.instance, press.alive]).toEqual(['running', 'fake-1.2', ['fake-1.1', 'fake-1.2']]);
  await press.pass(500);
  await job.finish();
  expect([job.state, press.alive]).toEqual(['done', ['fake-1.2']]);
});

test('an engine that was launched and never used is stopped for being idle too', async () => {
  const press = new Press({ idleShutdownTimeout: 60_000 });
  await within(1000, 'the launch', press.supervisor.launch());
  await press.pass(60_000);
  expect([press.alive, press.clock.waiting]).toEqual([[], 0]);
});

test('a launch that takes longer than the idle time is not idle', async () => {
  const press = new Press({ idleShutdownTimeout: 1000 }, { start: 1500, startFails: true }, { start: 3000 });
  const launched = press.supervisor.launch();
  await press.pass(5000);
  await within(1000, 'the launch', launched);
  expect(press.supervisor.status().starts).toBe(1);
});

test('a task that is still being cleaned up after keeps its engine from being idle', async () => {
  const press = new Press({ idleShutdownTimeout: 1000 });
  const job = await press.submit('job');
  const clean = Promise.withResolvers<void>();
  await job.finishEarly(clean.promise);
  await press.pass(2000);
  expect(press.alive).toEqual(['fake-1.1']);
  clean.resolve();
  await press.pass(1000);
  expect(press.alive).toEqual([]);
});

test('shutting down, what runs and what waits is finished, what comes is refused; then all ends', async () => {
  const press = new Press();
  const [running, waiting] = [await press.submit('running'), await press.submit('waiting')];
  const over = press.supervisor.shutdown(patience().signal);
  const late = await press.submit('late');
  expect(late.state).toBe('SHUTTING_DOWN');
  await running.finish();
  await waiting.finish();
  await within(1000, 'the shutdown', over);
  expect([running.state, waiting.state, press.alive, press.clock.waiting]).toEqual(['done', 'done', [], 0]);
});

test('a request of many files that was accepted is finished to its last file', async () => {
  const press = new Press();
  const steps = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const all = press.supervisor.runAll(steps, async step => step.promise.then(() => 'done'), patience());
  await settle();
  const over = press.supervisor.shutdown(patience().signal);
  for (const step of steps) {
    step.resolve();
    await settle();
  }
  await expect(within(1000, 'the request', all)).resolves.toEqual(['done', 'done', 'done']);
  await within(1000, 'the shutdown', over);
});

test('what has not finished within the bound is told so, and everything ends', async () => {
  const press = new Press({ maxConcurrency: 2 });
  const jobs = [await press.submit('a'), await press.submit('b', { obedient: true }), await press.submit('waiting')];
  const bound = patience();
  let over = false;
  const shutdown = press.supervisor.shutdown(bound.signal).then(() => {
    over = true;
  });
  await press.pass(10_000);
  expect(over).toBe(false);
  bound.abort();
  await settle();
  expect([jobs[1]?.state, jobs[2]?.state, press.alive]).toEqual(['SHUTTING_DOWN', 'SHUTTING_DOWN', []]);
  expect([jobs[0]?.state, over]).toEqual(['running', false]);
  await press.pass(500);
  await within(1000, 'the shutdown', shutdown);
  expect([jobs.map(({ state }) => state), press.clock.waiting]).toEqual([Array(3).fill('SHUTTING_DOWN'), 0]);
});

test('victims are seen to within the bound, and told beyond it', async () => {
  const press = new Press({ maxConcurrency: 2 });
  const [first, second] = [await press.submit('first'), await press.submit('second')];
  press.process('fake-1.1').crash();
  await press.pass(500);
  const bound = patience();
  const over = press.supervisor.shutdown(bound.signal);
  await first.finish();
  expect([first.state, second.attempts.length]).toEqual(['done', 2]);
  bound.abort();
  await press.pass(500);
  await within(1000, 'the shutdown', over);
  expect([second.state, press.alive, press.clock.waiting]).toEqual(['SHUTTING_DOWN', [], 0]);
});

test('a start that is going on is called off', async () => {
  const press = new Press({}, { start: 'never' });
  const job = await press.submit('job');
  await within(1000, 'the shutdown', press.supervisor.shutdown(AbortSignal.abort()));
  expect([job.state, press.alive, press.clock.waiting]).toEqual(['SHUTTING_DOWN', [], 0]);
});

test('a renewal that is going on is ended too, old and new', async () => {
  const press = new Press({ restartAfter: 1 }, {}, { start: 5000 });
  await (await press.submit('job')).finish();
  expect(press.alive).toEqual(['fake-1.1', 'fake-1.2']);
  await within(1000, 'the shutdown', press.supervisor.shutdown(patience().signal));
  expect([press.alive, press.clock.waiting]).toEqual([[], 0]);
});

test('shutting down twice, or without ever having started, is nothing special', async () => {
  const press = new Press();
  const both = [press.supervisor.shutdown(patience().signal), press.supervisor.shutdown(patience().signal)];
  await within(1000, 'the shutdowns', Promise.all(both));
  expect((await press.submit('late')).state).toBe('SHUTTING_DOWN');
  expect(press.processes).toEqual([]);
});

test('a second shutdown may be less patient than the first', async () => {
  const press = new Press();
  const job = await press.submit('job', { obedient: true });
  const first = press.supervisor.shutdown(patience().signal);
  const second = press.supervisor.shutdown(AbortSignal.abort());
  await within(1000, 'both', Promise.all([first, second]));
  expect(job.state).toBe('SHUTTING_DOWN');
});

test('the runner is empty when the engine has been shut down', async () => {
  const press = new Press({ instances: 2 });
  await press.submit('a');
  await press.submit('b');
  const over = press.supervisor.shutdown(AbortSignal.abort());
  await press.pass(500);
  await within(1000, 'the shutdown', over);
  expect(press.runner.report().workers).toEqual([]);
  press.runner.kill();
  await within(1000, 'the runner', press.runner.wait());
});
