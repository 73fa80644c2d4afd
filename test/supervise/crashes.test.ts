import { expect, test } from 'vitest';
import { EngineCrash } from '../../src/supervise/types.ts';
import { settle } from '../helpers/fake-clock.ts';
import { type Job, Press } from '../helpers/press.ts';

test('a task whose instance dies is done once more, in a throw-away instance, and succeeds', async () => {
  const press = new Press();
  const job = await press.submit('job');
  press.process('fake-1.1').crash();
  await press.pass(500);
  expect(job.attempts.map(({ attempt }) => [attempt.number, attempt.instance])).toEqual([
    [1, 'fake-1.1'],
    [2, 'fake-extra.1'],
  ]);
  await job.finish();
  expect([job.state, job.trace?.attempts, press.alive]).toEqual(['done', 2, ['fake-1.1']]);
});

test('its signal tells the task at once that its instance has died', async () => {
  const press = new Press();
  const job = await press.submit('job', { obedient: true });
  press.process('fake-1.1').crash();
  await settle();
  expect(job.attempts[0]?.attempt.signal.reason).toBeInstanceOf(EngineCrash);
  expect(job.attempts).toHaveLength(2);
});

test('a task that fails in any way in an instance that has died is a victim too', async () => {
  const press = new Press();
  const job = await press.submit('job');
  press.process('fake-1.1').broken = true;
  await job.fail(new Error('socket hang up'));
  expect([job.state, job.attempts.length]).toEqual(['running', 2]);
});

test('a dead renderer has one victim; its neighbours and its browser go on', async () => {
  const press = new Press({ maxConcurrency: 3 });
  const [victim, neighbour] = [await press.submit('victim'), await press.submit('neighbour')];
  await victim.fail(new EngineCrash('the renderer died'));
  expect([victim.instance, neighbour.attempts.length]).toEqual(['fake-extra.1', 1]);
  await victim.finish();
  await neighbour.finish();
  expect([victim.state, neighbour.state, press.supervisor.restarts]).toEqual(['done', 'done', 0]);
});

test('victims run one at a time, in their order, each in a fresh throw-away instance that is gone afterwards', async () => {
  const press = new Press({ maxConcurrency: 3 });
  const jobs = [await press.submit('a'), await press.submit('b'), await press.submit('c')];
  press.process('fake-1.1').crash();
  await press.pass(500);
  expect(press.begun).toEqual(['a', 'b', 'c', 'a']);
  expect(press.supervisor.status().waitingVictims).toBe(2);
  for (const job of jobs) await job.finish();
  expect(press.begun).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  expect(jobs.map(({ instance }) => instance)).toEqual(['fake-extra.1', 'fake-extra.2', 'fake-extra.3']);
  expect([jobs.map(({ state }) => state), press.alive]).toEqual([Array(3).fill('done'), ['fake-1.1']]);
});

test('victims go ahead of new work, and all together are never more than the engine may do at once', async () => {
  const press = new Press({}, {}, { start: 0 }, { start: 300 });
  const victim = await press.submit('victim');
  const next = await press.submit('next');
  press.process('fake-1.1').crash();
  await press.pass(500);
  await press.pass(300);
  expect([press.begun, press.supervisor.activeTasks, next.state]).toEqual([['victim', 'victim'], 1, 'waiting']);
  await victim.finish();
  expect(next.state).toBe('running');
});

test('victims do not count as waiting', async () => {
  const press = new Press({ maxConcurrency: 2, maxQueueSize: 1 });
  await press.submit('a');
  await press.submit('b');
  press.process('fake-1.1').crash();
  await press.pass(500);
  expect(press.supervisor.queueSize).toBe(0);
  expect((await press.submit('new')).state).toBe('running');
  expect((await press.submit('waits')).state).toBe('waiting');
});

test('a victim whose client has gone is not run again', async () => {
  const press = new Press({ maxConcurrency: 2 });
  const [first, second] = [await press.submit('first'), await press.submit('second')];
  press.process('fake-1.1').crash();
  await press.pass(500);
  await second.leave();
  expect([second.state, second.attempts.length]).toEqual(['CLIENT_GONE', 1]);
  await first.finish();
  expect(press.alive).toEqual(['fake-1.1']);
});

test('a victim has no more time than it had', async () => {
  const press = new Press({}, {}, {}, { start: 5000 });
  const job = await press.submit('job', { limit: 1000 });
  press.process('fake-1.1').crash();
  await press.pass(1000);
  expect([job.state, job.attempts.length]).toEqual(['TIME_LIMIT', 1]);
});

test('a crashed instance comes back at once, without waiting for the next request', async () => {
  const press = new Press();
  const job = await press.submit('job');
  await job.finish();
  press.process('fake-1.1').crash();
  await settle();
  expect([press.processes.length, press.alive]).toEqual([2, ['fake-1.1']]);
  expect(press.supervisor.status().restartsByReason).toEqual({ crash: 1 });
  expect(press.logged('instance is ready').at(-1)?.fields).toMatchObject({ reason: 'crash' });
});

test('one that dies before it has done anything comes back after a delay', async () => {
  const press = new Press();
  void press.supervisor.launch();
  await settle();
  press.process('fake-1.1').crash();
  await press.pass(99);
  expect(press.alive).toEqual([]);
  await press.pass(1);
  expect(press.alive).toEqual(['fake-1.1']);
});

test('also where nobody waits for it', async () => {
  const press = new Press();
  const job = await press.submit('job', { obedient: true });
  await job.leave();
  press.process('fake-1.1').crash();
  await press.pass(100);
  expect(press.alive).toEqual(['fake-1.1']);
});

async function crashTwice(press: Press, name: string, fingerprint?: string): Promise<Job> {
  const job = await press.submit(name, fingerprint === undefined ? {} : { fingerprint });
  press.process(job.instance ?? '').crash();
  await press.pass(500);
  press.process(job.instance ?? '').crash();
  await press.pass(500);
  return job;
}

test('a document that crashes its engine twice is told so, by name, and nobody else is', async () => {
  const press = new Press({ instances: 2 });
  const innocent = await press.submit('innocent');
  const job = await crashTwice(press, 'killer', 'abc');
  expect([job.state, job.attempts.length]).toEqual(['CRASHED_TWICE', 2]);
  expect((job.error as Error).message).toContain('made Fake crash twice');
  await innocent.finish();
  expect([innocent.state, innocent.attempts.length]).toEqual(['done', 1]);
  expect(press.logged('crashed its engine twice')).toMatchObject([
    { level: 'error', fields: { engine: 'fake', sha256: 'abc', err: expect.any(EngineCrash) } },
  ]);
});

test('it is marked: while it is, it gets one attempt, apart from all others', async () => {
  const press = new Press();
  await crashTwice(press, 'killer', 'abc');
  expect(press.supervisor.status().markedDocuments).toBe(1);
  const again = await press.submit('again', { fingerprint: 'abc' });
  await press.pass(1000);
  expect(again.attempts.map(({ attempt }) => attempt.number)).toEqual([1]);
  expect(again.instance).toMatch(/^fake-extra\./);
  press.process(again.instance ?? '').crash();
  await press.pass(500);
  expect([again.state, again.attempts.length]).toEqual(['CRASHED_TWICE', 1]);
});

test('a marked document that does well after all is done', async () => {
  const press = new Press();
  await crashTwice(press, 'killer', 'abc');
  const again = await press.submit('again', { fingerprint: 'abc' });
  await press.pass(1000);
  await again.finish();
  expect(again.state).toBe('done');
});

test('others are served as ever while documents are marked', async () => {
  const press = new Press();
  await crashTwice(press, 'killer', 'abc');
  await press.pass(1000);
  const other = await press.submit('other', { fingerprint: 'def' });
  const nameless = await press.submit('nameless');
  await other.finish();
  await nameless.finish();
  expect([other.instance, other.state, nameless.state]).toEqual(['fake-1.1', 'done', 'done']);
});

test('a mark ends after its time', async () => {
  const press = new Press({ poisonTtl: 60_000 });
  await crashTwice(press, 'killer', 'abc');
  await press.pass(60_000);
  const again = await press.submit('again', { fingerprint: 'abc' });
  expect([again.instance, press.supervisor.status().markedDocuments]).toEqual(['fake-1.1', 0]);
});

test('the throw-away instance is ended when its one task left something behind in it', async () => {
  const press = new Press({ maxConcurrency: 2 });
  const [first, second] = [await press.submit('first'), await press.submit('second')];
  press.process('fake-1.1').crash();
  await press.pass(500);
  first.attempts.at(-1)?.attempt.retireInstance('fonts');
  await first.finish();
  await press.pass(0);
  expect([second.instance, second.state]).toEqual(['fake-extra.2', 'running']);
});

test('a throw-away instance that does not start is tried again; who can not wait for it is told', async () => {
  const press = new Press({ maxConcurrency: 2 }, {}, {}, { startFails: true }, {});
  const [hasty, patient] = [await press.submit('hasty', { limit: 560 }), await press.submit('patient')];
  press.process('fake-1.1').crash();
  await press.pass(500);
  expect([hasty.state, patient.state]).toEqual(['ENGINE_UNAVAILABLE', 'running']);
  await press.pass(100);
  expect(patient.attempts).toHaveLength(2);
});

test('the end of an instance that is draining is the end of it: it does not come back', async () => {
  const press = new Press({ restartAfter: 1, maxConcurrency: 2 });
  const [first, second] = [await press.submit('first'), await press.submit('second')];
  await first.finish();
  expect(press.alive).toEqual(['fake-1.1', 'fake-1.2']);
  press.process('fake-1.1').crash();
  await press.pass(500);
  await second.finish();
  expect([second.state, press.alive]).toEqual(['done', ['fake-1.2']]);
  expect(press.processes.map(({ id }) => id)).toEqual(['fake-1.1', 'fake-1.2', 'fake-extra.1']);
});

test('a task that has its result although its instance died in that moment is done', async () => {
  const press = new Press();
  const job = await press.submit('job');
  press.process('fake-1.1').crash();
  await press.pass(100);
  await job.finish();
  expect([job.state, job.attempts.length]).toEqual(['done', 1]);
});

test('a dead instance is cleaned up after, once, and asked for nothing more', async () => {
  const press = new Press();
  await press.submit('stubborn');
  const process = press.process('fake-1.1');
  process.crash();
  await press.pass(2000);
  expect([process.stops, process.abandoned]).toEqual([1, []]);
});

test('an instance that dies of its very first task comes back after a delay: it may be broken', async () => {
  const press = new Press();
  await press.submit('job', { obedient: true });
  press.process('fake-1.1').crash();
  await press.pass(99);
  expect(press.alive).toEqual(['fake-extra.1']);
  await press.pass(1);
  expect(press.alive).toEqual(['fake-extra.1', 'fake-1.1']);
});
