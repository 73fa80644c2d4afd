import { expect, test } from 'vitest';
import { renewalDue } from '../../src/supervise/renewal.ts';
import { Press } from '../helpers/press.ts';

test.each([
  ['nothing is due', {}, undefined],
  ['so many tasks', { served: 100 }, 'count'],
  ['too much memory', { residentBytes: 501 }, 'memory'],
  ['just as much memory as allowed', { residentBytes: 500 }, undefined],
  [
    'too much memory though it has done nothing: its successor would be as big',
    { served: 0, residentBytes: 501 },
    undefined,
  ],
  ['too old', { ageMs: 60_000 }, 'age'],
])('renewal: %s', (_, instance, due) => {
  const settings = { restartAfter: 100, maxMemory: 500, maxAge: 60_000 };
  expect(renewalDue(settings, { served: 1, ageMs: 0, residentBytes: undefined, ...instance })).toBe(due);
});

test('zero means never', () => {
  const settings = { restartAfter: 0, maxMemory: 0, maxAge: 0 };
  expect(renewalDue(settings, { served: 1e9, ageMs: 1e12, residentBytes: 1e15 })).toBeUndefined();
});

async function serve(press: Press, times = 1): Promise<(string | undefined)[]> {
  const instances: (string | undefined)[] = [];
  for (let time = 0; time < times; time += 1) {
    const job = await press.submit();
    await job.finish();
    instances.push(job.instance);
  }
  return instances;
}

test('after so many tasks the successor is started beside the old one, which serves on until it is ready', async () => {
  const press = new Press({ restartAfter: 2 }, {}, { start: 1000 });
  await serve(press, 2);
  expect(press.alive).toEqual(['fake-1.1', 'fake-1.2']);
  expect(await serve(press, 5)).toEqual(Array(5).fill('fake-1.1'));
  await press.pass(1000);
  expect([press.alive, await serve(press)]).toEqual([['fake-1.2'], ['fake-1.2']]);
  const { restarts, restartsByReason, startsByReason } = press.supervisor.status();
  expect([restarts, restartsByReason, startsByReason]).toEqual([1, { count: 1 }, { demand: 1, count: 1 }]);
  expect(press.logged('renewal begins')).toHaveLength(1);
});

test('the old one finishes what it has while the new one takes over; all together never do more than allowed', async () => {
  const press = new Press({ restartAfter: 1, maxConcurrency: 2 });
  const [long, short] = [await press.submit('long'), await press.submit('short')];
  await short.finish();
  expect(press.supervisor.status().instances.map(({ id, state }) => [id, state])).toEqual([
    ['fake-1.2', 'ready'],
    ['fake-1.1', 'draining'],
  ]);
  const [next, tooMany] = [await press.submit('next'), await press.submit('too many')];
  expect([next.instance, tooMany.state, press.supervisor.activeTasks]).toEqual(['fake-1.2', 'waiting', 2]);
  await long.finish();
  expect([long.state, tooMany.instance, press.alive]).toEqual(['done', 'fake-1.2', ['fake-1.2']]);
});

test('one instance of an engine is renewed at a time', async () => {
  const press = new Press({ restartAfter: 1, instances: 3 }, {}, {}, {}, { start: 1000 });
  const jobs = [await press.submit('a'), await press.submit('b'), await press.submit('c')];
  for (const job of jobs) await job.finish();
  expect(press.alive).toEqual(['fake-1.1', 'fake-2.1', 'fake-3.1', 'fake-1.2']);
  await press.pass(1000);
  expect(press.alive).toEqual(['fake-2.1', 'fake-3.1', 'fake-1.2', 'fake-2.2']);
  await press.pass(2000);
  expect(press.alive).toEqual(['fake-1.2', 'fake-2.2', 'fake-3.2']);
});

test('an instance that holds too much memory is renewed', async () => {
  const press = new Press({ maxMemory: 5_000_000 });
  await serve(press);
  press.process('fake-1.1').residentBytes = 6_000_000;
  await press.pass(1000);
  expect([press.alive, press.supervisor.status().restartsByReason]).toEqual([['fake-1.2'], { memory: 1 }]);
});

test('an instance that is too old is renewed, also without work', async () => {
  const press = new Press({ maxAge: 60_000 });
  await serve(press);
  await press.pass(59_000);
  expect(press.alive).toEqual(['fake-1.1']);
  await press.pass(2000);
  expect([press.alive, press.supervisor.status().restartsByReason]).toEqual([['fake-1.2'], { age: 1 }]);
});

test('a planned renewal says nothing against the engine', async () => {
  const press = new Press({ restartAfter: 1, renewInPlace: true }, {}, { start: 1000 });
  await serve(press);
  expect([press.alive, press.supervisor.healthy]).toEqual([['fake-1.2'], true]);
  await press.pass(500);
  expect(press.supervisor.healthy).toBe(true);
});

test('a successor that does not start is tried again later and later, while the old one serves', async () => {
  const press = new Press({ restartAfter: 1 }, {}, { startFails: true });
  await serve(press);
  await press.pass(3000);
  const tries = press.processes.length;
  expect([tries <= 7, await serve(press, 3), press.supervisor.healthy]).toEqual([
    true,
    Array(3).fill('fake-1.1'),
    true,
  ]);
  press.behaviours[0] = {};
  await press.pass(5000);
  expect(press.alive).toEqual(['fake-1.2']);
});

test('when the old one dies during its renewal the successor takes its place at once', async () => {
  const press = new Press({ restartAfter: 1 }, {}, { start: 1000 });
  await serve(press);
  press.process('fake-1.1').crash();
  await press.pass(500);
  expect(press.alive).toEqual(['fake-1.2']);
  const job = await press.submit();
  await press.pass(500);
  expect([job.instance, press.alive]).toEqual(['fake-1.2', ['fake-1.2']]);
});

test('draining has a bound: the deadlines of what is still running, and a little', async () => {
  const press = new Press({ restartAfter: 1, maxConcurrency: 2 });
  const [stuck, short] = [await press.submit('stuck', { limit: 30_000 }), await press.submit('short')];
  await stuck.finishEarly(new Promise(() => {}));
  await short.finish();
  expect(press.alive).toEqual(['fake-1.1', 'fake-1.2']);
  await press.pass(35_000);
  expect([press.alive, press.supervisor.activeTasks]).toEqual([['fake-1.2'], 0]);
});

test('a task without a deadline can not hold up the end of its instance for ever: it is done again', async () => {
  const press = new Press({ restartAfter: 1, maxConcurrency: 2 });
  const [endless, short] = [await press.submit('endless'), await press.submit('short')];
  await short.finish();
  await press.pass(11 * 60_000);
  expect([endless.attempts.length, press.supervisor.status().killsByReason]).toEqual([2, { drain: 1 }]);
});

test('in place: the old one is gone before the new one starts, and requests wait meanwhile', async () => {
  const press = new Press({ restartAfter: 1, renewInPlace: true, maxConcurrency: 2 }, { stop: 200 }, { start: 300 });
  const [long, short] = [await press.submit('long'), await press.submit('short')];
  await short.finish();
  const waiting = await press.submit('waiting');
  expect([press.processes.length, waiting.state]).toEqual([1, 'waiting']);
  await long.finish();
  await press.pass(199);
  expect(press.processes).toHaveLength(1);
  await press.pass(1);
  expect(press.alive).toEqual(['fake-1.2']);
  await press.pass(300);
  expect([waiting.state, waiting.instance]).toEqual(['running', 'fake-1.2']);
});

test('in place: the new one starts also when nobody waits', async () => {
  const press = new Press({ restartAfter: 1, renewInPlace: true }, { stop: 200 }, {});
  await serve(press);
  await press.pass(200);
  expect(press.alive).toEqual(['fake-1.2']);
});

test('a document that left something behind has its instance replaced: nobody else meets it', async () => {
  const press = new Press({}, {}, { start: 500 });
  const job = await press.submit('fonts');
  job.attempts[0]?.attempt.retireInstance('embedded fonts');
  const next = await press.submit('next');
  await job.finish();
  expect([job.state, next.state, press.alive]).toEqual(['done', 'waiting', ['fake-1.2']]);
  await press.pass(500);
  expect(next.instance).toBe('fake-1.2');
  expect(press.supervisor.status().restartsByReason).toEqual({ retired: 1 });
  expect(press.logged('instance is replaced')).toMatchObject([{ fields: { detail: 'embedded fonts' } }]);
});

test('asked for twice, an instance is replaced once', async () => {
  const press = new Press();
  const job = await press.submit('fonts');
  job.attempts[0]?.attempt.retireInstance('once');
  job.attempts[0]?.attempt.retireInstance('twice');
  await job.finish();
  expect(press.alive).toEqual(['fake-1.2']);
});

test('no other renewal begins while the last one’s old instance still drains', async () => {
  const press = new Press({ restartAfter: 1, instances: 2, maxConcurrency: 2 });
  const jobs = [await press.submit('long'), await press.submit('short'), await press.submit('other')];
  await jobs[1]?.finish();
  expect(press.supervisor.status().instances.filter(({ state }) => state === 'draining')).toHaveLength(1);
  await jobs[2]?.finish();
  await (await press.submit('more')).finish();
  expect(press.processes.map(({ id }) => id)).toEqual(['fake-1.1', 'fake-2.1', 'fake-1.2']);
  await jobs[0]?.finish();
  expect(press.processes).toHaveLength(4);
});
