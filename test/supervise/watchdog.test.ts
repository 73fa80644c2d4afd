import { expect, test } from 'vitest';
import { Press } from '../helpers/press.ts';

async function started(behaviour = {}, settings = {}): Promise<Press> {
  const press = new Press(settings, behaviour, {});
  const job = await press.submit('first');
  await job.finish();
  return press;
}

test('an idle instance that was stopped (state T) is found within a second, before a request meets it', async () => {
  const press = await started();
  press.process('fake-1.1').stoppedByKernel = true;
  await press.pass(1000);
  expect([press.processes.length, press.supervisor.status().killsByReason]).toEqual([2, { frozen: 1 }]);
  const job = await press.submit('job');
  await job.finish();
  expect([job.state, job.attempts.length]).toEqual(['done', 1]);
});

test('a task in an instance that is stopped is a victim: it is done once more', async () => {
  const press = await started();
  const job = await press.submit('job');
  press.process('fake-1.1').stoppedByKernel = true;
  await press.pass(2000);
  await job.finish();
  expect([job.state, job.attempts.length, press.supervisor.status().restartsByReason]).toEqual([
    'done',
    2,
    { frozen: 1 },
  ]);
});

test('an instance that neither answers nor uses the processor for 3 s is frozen; found within 4 s', async () => {
  const press = await started();
  await press.pass(2500);
  press.process('fake-1.1').behaviour.answers = false;
  await press.pass(3000);
  expect(press.processes).toHaveLength(1);
  await press.pass(1000);
  expect([press.processes.length, press.supervisor.status().killsByReason]).toEqual([2, { frozen: 1 }]);
});

test('a busy instance is never ended for being busy, however long it does not answer', async () => {
  const press = await started();
  const job = await press.submit('long');
  Object.assign(press.process('fake-1.1').behaviour, { answers: false, load: 0.5 });
  await press.pass(10 * 60_000);
  await job.finish();
  expect([job.state, job.attempts.length, press.processes.length]).toEqual(['done', 1, 1]);
});

test('one that answers in the end was only slow', async () => {
  const press = await started();
  const process = press.process('fake-1.1');
  for (let round = 0; round < 10; round += 1) {
    process.behaviour.answers = false;
    await press.pass(2000);
    process.behaviour.answers = true;
    process.answer();
    await press.pass(1000);
  }
  expect(press.processes).toHaveLength(1);
});

test('when this service itself was held up, nobody is taken for frozen', async () => {
  const press = await started();
  press.process('fake-1.1').behaviour.answers = false;
  await press.pass(1000);
  press.clock.jump(60_000);
  await press.pass(0);
  expect(press.processes).toHaveLength(1);
  await press.pass(4000);
  expect(press.processes).toHaveLength(2);
});

test('an instance that lives but is broken takes no task, and is replaced', async () => {
  const press = await started();
  press.process('fake-1.1').broken = true;
  const job = await press.submit('job');
  expect(job.state).toBe('waiting');
  await press.pass(2000);
  expect([job.state, press.processes.length, press.supervisor.status().killsByReason]).toEqual([
    'running',
    2,
    { broken: 1 },
  ]);
});

test('a throw-away instance is watched too', async () => {
  const press = await started();
  const job = await press.submit('job', { limit: 60_000 });
  press.process('fake-1.1').crash();
  await press.pass(500);
  press.process('fake-extra.1').stoppedByKernel = true;
  await press.pass(2000);
  expect(job.state).toBe('CRASHED_TWICE');
});

test('without instances nobody looks: no timer is left', async () => {
  const press = await started({}, { idleShutdownTimeout: 60_000 });
  expect(press.clock.waiting).toBeGreaterThan(0);
  await press.pass(60_000);
  expect([press.alive, press.clock.waiting]).toEqual([[], 0]);
});

test('status tells what memory each instance holds', async () => {
  const press = await started();
  await press.pass(1000);
  expect(press.supervisor.status().instances).toEqual([
    { id: 'fake-1.1', state: 'ready', activeTasks: 0, servedTasks: 1, sinceMs: 1000, residentBytes: 1_000_000 },
  ]);
});
