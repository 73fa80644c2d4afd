import { expect, test } from 'vitest';
import { settle } from '../helpers/fake-clock.ts';
import { type Job, Press } from '../helpers/press.ts';

const states = (jobs: readonly Job[]) => jobs.map(({ state }) => state);

async function submitAll(press: Press, names: readonly string[]): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const name of names) jobs.push(await press.submit(name));
  return jobs;
}

test('requests are served first come, first served', async () => {
  const press = new Press();
  const jobs = await submitAll(press, ['a', 'b', 'c', 'd']);
  for (const job of jobs) await job.finish();
  expect(press.begun).toEqual(['a', 'b', 'c', 'd']);
  expect(states(jobs)).toEqual(['done', 'done', 'done', 'done']);
});

test('the order holds across a crash and a restart', async () => {
  const press = new Press({}, {}, { start: 500 }, { start: 500 });
  const jobs = await submitAll(press, ['a', 'b', 'c']);
  await jobs[0]?.fail(new Error('its own fault'));
  await press.pass(0);
  press.process('fake-1.1').crash();
  await press.pass(500);
  for (const job of jobs.slice(1)) await job.finish();
  await press.pass(1000);
  for (const job of jobs.slice(1)) await job.finish();
  expect(press.begun.filter((name, at) => press.begun.indexOf(name) === at)).toEqual(['a', 'b', 'c']);
  expect(states(jobs)).toEqual(['its own fault', 'done', 'done']);
});

test('a queue of two takes two that wait and refuses the third at once, never one more', async () => {
  const press = new Press({ maxQueueSize: 2 });
  const jobs = await submitAll(press, ['running', 'waits', 'waits too', 'too many']);
  expect(states(jobs)).toEqual(['running', 'waiting', 'waiting', 'QUEUE_FULL']);
  expect(press.supervisor.queueSize).toBe(2);
  await jobs[0]?.finish();
  const next = await submitAll(press, ['takes the place', 'too many again']);
  expect(states(next)).toEqual(['waiting', 'QUEUE_FULL']);
});

test('requests that all come in the same moment are counted just as exactly', async () => {
  const press = new Press({ maxQueueSize: 3, instances: 2, maxConcurrency: 2 });
  const jobs = await Promise.all(Array.from({ length: 12 }, (_, at) => press.submit(`${at}`)));
  await settle();
  expect(states(jobs).filter(state => state === 'QUEUE_FULL')).toHaveLength(5);
  expect(press.supervisor.queueSize).toBe(3);
});

test('a request for which there is a slot does not wait, also while its instance is still starting', async () => {
  const press = new Press({ maxQueueSize: 1, instances: 2 }, { start: 1000 });
  const jobs = await submitAll(press, ['a', 'b', 'c', 'd']);
  expect(press.supervisor.queueSize).toBe(1);
  expect(states(jobs)).toEqual(['waiting', 'waiting', 'waiting', 'QUEUE_FULL']);
  await press.pass(1000);
  expect(states(jobs)).toEqual(['running', 'running', 'waiting', 'QUEUE_FULL']);
});

test('who gives up while waiting is gone at once and is not counted any more', async () => {
  const press = new Press({ maxQueueSize: 1 });
  const [first, second] = (await submitAll(press, ['first', 'second'])) as [Job, Job];
  await second.leave();
  expect([second.state, press.supervisor.queueSize]).toEqual(['CLIENT_GONE', 0]);
  const third = await press.submit('third');
  await first.finish();
  expect([third.state, press.begun]).toEqual(['running', ['first', 'third']]);
});

test('a request whose client has gone before it came costs nothing', async () => {
  const press = new Press();
  const run = press.supervisor.run(async () => 'done', { signal: AbortSignal.abort(new Error('gone')) });
  await expect(run).rejects.toThrow('gone');
  expect(press.processes).toHaveLength(0);
});

test('an instance never has more tasks at once than allowed, the engine never more than all of them', async () => {
  const press = new Press({ instances: 2, maxConcurrency: 3 });
  const jobs = await submitAll(
    press,
    Array.from({ length: 10 }, (_, at) => `${at}`),
  );
  expect(press.supervisor.activeTasks).toBe(6);
  const by = Map.groupBy(
    jobs.filter(({ state }) => state === 'running'),
    ({ instance }) => instance,
  );
  expect([...by.values()].map(({ length }) => length)).toEqual([3, 3]);
  for (const job of jobs) await job.finish();
  expect(states(jobs)).toEqual(Array(10).fill('done'));
  expect([press.supervisor.activeTasks, press.supervisor.queueSize]).toEqual([0, 0]);
});

test('work goes to the least busy instance', async () => {
  const press = new Press({ instances: 2, maxConcurrency: 2 });
  const [a, b] = (await submitAll(press, ['a', 'b', 'c', 'd'])) as [Job, Job];
  await b.finish();
  const next = await press.submit('next');
  expect(next.instance).toBe(b.instance);
  expect(a.state).toBe('running');
});

test('an ordinary failure is passed on as it is, and its slot is free', async () => {
  const press = new Press();
  const [first, second] = (await submitAll(press, ['first', 'second'])) as [Job, Job];
  const error = new Error('encrypted');
  await first.fail(error);
  expect([first.error, second.state]).toEqual([error, 'running']);
});

test('the trace tells the wait, the run, the instance and the attempts', async () => {
  const press = new Press();
  const [first, second] = (await submitAll(press, ['first', 'second'])) as [Job, Job];
  await press.pass(400);
  await first.finish();
  await press.pass(250);
  await second.finish();
  expect(first.trace).toEqual({ engine: 'fake', instance: 'fake-1.1', queueMs: 0, runMs: 400, attempts: 1 });
  expect(second.trace).toEqual({ engine: 'fake', instance: 'fake-1.1', queueMs: 400, runMs: 250, attempts: 1 });
  const { queueTimes, runTimes } = press.supervisor.status();
  expect([queueTimes, runTimes]).toEqual([
    { count: 2, totalMs: 400, longestMs: 400 },
    { count: 2, totalMs: 650, longestMs: 400 },
  ]);
  expect(press.logged('task has ended').map(({ fields }) => fields)).toMatchObject([{ queueMs: 0 }, { queueMs: 400 }]);
});

/** A press that knows how long tasks take. */
async function experienced(settings = {}): Promise<Press> {
  const press = new Press(settings);
  for (let at = 0; at < 20; at += 1) {
    const job = await press.submit();
    await press.pass(1000);
    await job.finish();
  }
  return press;
}

test('what could never be served in time is refused at once, once 20 run times are known', async () => {
  const press = await experienced();
  const jobs = await submitAll(press, ['running', 'waiting', 'waiting', 'waiting']);
  const hopeless = await press.submit('hopeless', { limit: 1400 });
  const tight = await press.submit('tight', { limit: 1600 });
  expect([states(jobs).at(-1), hopeless.state, tight.state]).toEqual(['waiting', 'OVERLOADED', 'waiting']);
});

test('nothing is refused for its deadline while a slot is free, nobody waits, or too little is known', async () => {
  const press = await experienced();
  expect((await press.submit('a slot is free', { limit: 1 })).state).toBe('running');
  expect((await press.submit('nobody waits', { limit: 1 })).state).toBe('waiting');
  const fresh = new Press();
  const jobs = await submitAll(fresh, ['running', 'waiting', 'waiting', 'waiting']);
  expect((await fresh.submit('too little is known', { limit: 1 })).state).toBe('waiting');
  expect(jobs).toHaveLength(4);
});

test('a setting turns refusing by the deadline off', async () => {
  const press = await experienced({ refuseHopeless: false });
  await submitAll(press, ['running', 'waiting', 'waiting', 'waiting']);
  expect((await press.submit('hopeless', { limit: 100 })).state).toBe('waiting');
});
