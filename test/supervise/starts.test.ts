import { expect, test } from 'vitest';
import { settle } from '../helpers/fake-clock.ts';
import { Press } from '../helpers/press.ts';
import { within } from '../helpers/within.ts';

const BROKEN = { start: 100, startFails: true };

test('nothing is started before there is work', async () => {
  const press = new Press();
  await press.pass(60_000);
  expect([press.processes.length, press.clock.waiting, press.supervisor.healthy]).toEqual([0, 0, true]);
});

test('first tasks that come together share one start', async () => {
  const press = new Press({ maxConcurrency: 6 }, { start: 800 });
  const jobs = await Promise.all([press.submit('a'), press.submit('b'), press.submit('c')]);
  await press.pass(800);
  expect([press.processes.length, jobs.map(({ state }) => state)]).toEqual([1, ['running', 'running', 'running']]);
});

test('as many instances are started as there is work for, no more', async () => {
  const press = new Press({ instances: 4, maxConcurrency: 2 });
  await Promise.all(['a', 'b', 'c'].map(name => press.submit(name)));
  expect(press.alive).toEqual(['fake-1.1', 'fake-2.1']);
});

test('a request is served by whichever instance is free first: a slow start holds nobody up', async () => {
  const press = new Press({ instances: 2 }, { start: 0 }, { start: 10_000 });
  const first = await press.submit('first');
  const second = await press.submit('second');
  expect(press.alive).toEqual(['fake-1.1', 'fake-2.1']);
  await first.finish();
  expect([second.state, second.instance]).toEqual(['running', 'fake-1.1']);
});

test('a start that fails twice is tried again while somebody waits; the request is served', async () => {
  const press = new Press({}, BROKEN, BROKEN, { start: 100 });
  const job = await press.submit('patient');
  await press.pass(100);
  expect([job.state, press.supervisor.healthy]).toEqual(['waiting', false]);
  await press.pass(100 + 100 + 200 + 100);
  expect([job.state, press.processes.length, press.supervisor.healthy]).toEqual(['running', 3, true]);
  await job.finish();
  expect(job.state).toBe('done');
});

test('one failed start poisons nothing: the next request starts the engine anew', async () => {
  const press = new Press({}, BROKEN, { start: 100 });
  const first = await press.submit('first');
  await first.leave();
  await press.pass(100);
  expect([press.alive, press.clock.waiting]).toEqual([[], 0]);
  const second = await press.submit('second');
  await press.pass(100);
  expect(second.state).toBe('running');
});

test('who can not be served before the deadline, since the engine does not start, is told so at once', async () => {
  const press = new Press({}, BROKEN);
  const hasty = await press.submit('hasty', { limit: 150 });
  const patient = await press.submit('patient', { limit: 60_000 });
  await press.pass(100);
  expect([hasty.state, patient.state]).toEqual(['ENGINE_UNAVAILABLE', 'waiting']);
  expect((hasty.error as Error).message).toContain('Fake could not be started');
  const late = await press.submit('comes while the next attempt is not yet due', { limit: 50 });
  expect(late.state).toBe('ENGINE_UNAVAILABLE');
});

test('whose time runs out while the engine fails to start learns that, not that it was slow', async () => {
  const press = new Press({}, BROKEN, { start: 'never' });
  const job = await press.submit('job', { limit: 1000 });
  await press.pass(1000);
  expect([job.state, job.settled]).toEqual(['ENGINE_UNAVAILABLE', 1]);
});

test('an engine that is just slow to start is a time limit, nothing worse', async () => {
  const press = new Press({}, { start: 5000 });
  const job = await press.submit('job', { limit: 1000 });
  await press.pass(1000);
  expect([job.state, press.supervisor.healthy]).toEqual(['TIME_LIMIT', true]);
  await press.pass(4000);
  expect(press.alive).toEqual(['fake-1.1']);
});

test('a start that never becomes ready is ended at its time limit and tried again', async () => {
  const press = new Press({ startTimeout: 2000 }, { start: 'never' }, { start: 100 });
  const job = await press.submit('job');
  await press.pass(1999);
  expect(press.alive).toEqual(['fake-1.1']);
  await press.pass(1);
  expect([press.alive, press.supervisor.status().lastError]).toEqual([[], expect.stringContaining('within 2000 ms')]);
  await press.pass(200);
  expect(job.state).toBe('running');
});

test('nobody waits any more: a failing start is not tried again, and no timer stays', async () => {
  const press = new Press({}, BROKEN);
  const job = await press.submit('job');
  await press.pass(150);
  await job.leave();
  expect([job.state, press.clock.waiting, press.alive]).toEqual(['CLIENT_GONE', 0, []]);
});

test('an engine that failed to start and is not needed is down for a while, then as if not started', async () => {
  const press = new Press({}, BROKEN);
  const job = await press.submit('job', { limit: 150 });
  await press.pass(100);
  expect([job.state, press.supervisor.healthy]).toEqual(['ENGINE_UNAVAILABLE', false]);
  await press.pass(29_000);
  expect(press.supervisor.healthy).toBe(false);
  await press.pass(1000);
  expect(press.supervisor.healthy).toBe(true);
});

test('launched with the service, the first instance comes first and the others follow', async () => {
  const press = new Press({ instances: 3 }, { start: 500 });
  let launched = false;
  void press.supervisor.launch().then(() => {
    launched = true;
  });
  await press.pass(499);
  expect([press.alive, launched]).toEqual([['fake-1.1'], false]);
  await press.pass(1);
  expect([press.alive, launched]).toEqual([['fake-1.1', 'fake-2.1', 'fake-3.1'], true]);
});

test('a launch that fails is tried again although nobody waits', async () => {
  const press = new Press({}, BROKEN, BROKEN, BROKEN, { start: 0 });
  const launched = press.supervisor.launch();
  await press.pass(2000);
  await within(1000, 'the launch', launched);
  expect([press.alive, press.supervisor.healthy]).toEqual([['fake-1.1'], true]);
});

test('a launch ends with a shutdown', async () => {
  const press = new Press({}, BROKEN);
  const launched = press.supervisor.launch();
  await press.pass(1000);
  await within(1000, 'the shutdown', press.supervisor.shutdown(new AbortController().signal));
  await within(1000, 'the launch', launched);
  expect([press.clock.waiting, press.alive]).toEqual([0, []]);
});

test('why an instance was started, and how long it took, is in the log and in the numbers', async () => {
  const press = new Press({}, { start: 700 });
  await press.submit();
  await press.pass(700);
  expect(press.logged('instance is ready')).toMatchObject([
    { level: 'info', fields: { engine: 'fake', instance: 'fake-1.1', reason: 'demand', ms: 700 } },
  ]);
  const { starts, startsByReason, startTimes } = press.supervisor.status();
  expect([starts, startsByReason, startTimes.totalMs]).toEqual([1, { demand: 1 }, 700]);
});

test('with the runner gone nothing is accepted, and who waits is sent away', async () => {
  const press = new Press({}, { start: 1000 });
  const waiting = await press.submit('waiting');
  press.runner.kill();
  await settle();
  expect([waiting.state, (await press.submit('new')).state]).toEqual(['SHUTTING_DOWN', 'SHUTTING_DOWN']);
  await within(1000, 'the runner', press.runner.wait());
  expect([press.alive, press.clock.waiting]).toEqual([[], 0]);
});

test('an engine that was launched starts nothing any more with the runner gone', async () => {
  const press = new Press({ instances: 2 });
  await within(1000, 'the launch', press.supervisor.launch());
  press.runner.kill();
  await within(1000, 'the runner', press.runner.wait());
  await settle();
  expect([press.processes.length, press.alive, press.clock.waiting]).toEqual([2, [], 0]);
  await within(1000, 'the shutdown', press.supervisor.shutdown(AbortSignal.abort()));
});
