import { expect, test } from 'vitest';
import { Instance } from '../../src/supervise/instance.ts';
import type { Process } from '../../src/supervise/types.ts';
import { Watchdog } from '../../src/supervise/watchdog.ts';
import { FakeClock, settle } from '../helpers/fake-clock.ts';
import { FakeProcess } from '../helpers/fake-process.ts';
import { loggerInto } from '../helpers/press.ts';
import { within } from '../helpers/within.ts';

function instanceOf(process: FakeProcess, clock: FakeClock): Instance<FakeProcess> {
  return new Instance('fake-1.1', process, { clock, log: loggerInto([]) });
}

/** Takes no notice of its signal while it starts. */
class Deaf extends FakeProcess {
  readonly ready = Promise.withResolvers<void>();

  override async start(): Promise<void> {
    await this.ready.promise;
  }
}

test('a start that takes no notice of being called off is not waited for; should it succeed later, it is ended', async () => {
  const clock = new FakeClock();
  const process = new Deaf('fake-1.1', clock);
  const giveUp = new AbortController();
  const started = instanceOf(process, clock).start(giveUp.signal);
  started.catch(() => {});
  giveUp.abort(new Error('called off'));
  await clock.advance(1000);
  await expect(within(1000, 'the start', started)).rejects.toThrow('called off');
  expect(process.stops).toBe(1);
  process.ready.resolve();
  await settle();
  expect([process.stops, clock.waiting]).toEqual([2, 0]);
});

test('the first reason for an end is the one that counts, and it is ended once', async () => {
  const clock = new FakeClock();
  const process = new FakeProcess('fake-1.1', clock);
  const instance = instanceOf(process, clock);
  await instance.start(new AbortController().signal);
  await Promise.all([instance.end('deadline'), instance.end('stopped')]);
  expect([instance.endedFor, process.stops, instance.state]).toEqual(['deadline', 1, 'gone']);
  expect(String(instance.death.reason)).toContain('fake-1.1 has ended (deadline)');
});

test('a stop that fails is told in the log, and the instance counts as gone', async () => {
  const clock = new FakeClock();
  const lines: Parameters<typeof loggerInto>[0] = [];
  const process = new FakeProcess('fake-1.1', clock);
  process.stop = async () => Promise.reject(new Error('EBUSY'));
  const instance = new Instance('fake-1.1', process, { clock, log: loggerInto(lines) });
  await instance.end('stopped');
  expect([instance.state, lines[0]?.level]).toEqual(['gone', 'error']);
});

test('a watchdog that is sent to rest while it looks does not wake up again', async () => {
  const clock = new FakeClock();
  const process = new FakeProcess('fake-1.1', clock);
  const instance = instanceOf(process, clock);
  await instance.start(new AbortController().signal);
  const usage = Promise.withResolvers<undefined>();
  process.usage = (() => usage.promise) as Process['usage'];
  let looks = 0;
  const watchdog = new Watchdog<FakeProcess>({
    clock,
    instances: () => [instance],
    onAiling: () => {},
    onLook: () => {
      looks += 1;
    },
  });
  watchdog.wake();
  await clock.advance(1000);
  watchdog.rest();
  usage.resolve(undefined);
  await settle();
  expect([clock.waiting, looks]).toEqual([0, 0]);
  watchdog.wake();
  await clock.advance(3000);
  expect([clock.waiting, looks]).toEqual([1, 3]);
});
