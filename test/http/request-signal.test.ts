import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { orAborted, RequestSignal, type RequestSignalOptions } from '../../src/http/request-signal.ts';
import { FakeClock } from '../helpers/fake-clock.ts';

function setUp() {
  const clock = new FakeClock();
  const shutdown = new AbortController();
  const answer = Object.assign(new EventEmitter(), { writableFinished: false, closed: false });
  const make = () =>
    new RequestSignal({
      clock,
      timeout: 1000,
      shutdown: shutdown.signal,
      answer: answer as unknown as RequestSignalOptions['answer'],
    });
  return { clock, shutdown, answer, make };
}

describe('the signal of a request aborts', () => {
  test('at its time limit, which it tells beforehand', async () => {
    const { clock, make } = setUp();
    await clock.advance(50);
    using limit = make();
    expect(limit.deadline).toBe(1050);
    await clock.advance(999);
    expect(limit.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(limit.signal.reason).toMatchObject({ code: 'TIME_LIMIT' });
  });

  test('when its client goes before the answer is complete', () => {
    const { answer, make } = setUp();
    using limit = make();
    answer.emit('close');
    expect(limit.signal.reason).toMatchObject({ code: 'CLIENT_GONE' });
    Object.assign(answer, { closed: true });
    using late = make();
    expect(late.signal.reason).toMatchObject({ code: 'CLIENT_GONE' });
  });

  test("at the end of a shutdown's patience, also when it comes after that", () => {
    const { shutdown, make } = setUp();
    using limit = make();
    shutdown.abort();
    expect(limit.signal.reason).toMatchObject({ code: 'SHUTTING_DOWN' });
    using late = make();
    expect(late.signal.reason).toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  test('for the first of several reasons', async () => {
    const { clock, shutdown, answer, make } = setUp();
    using limit = make();
    shutdown.abort();
    answer.emit('close');
    await clock.advance(2000);
    expect(limit.signal.reason).toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

test('an answer that has begun has no time limit, and one that is complete no client to lose', async () => {
  const { clock, answer, make } = setUp();
  using limit = make();
  limit.answering();
  await clock.advance(5000);
  Object.assign(answer, { writableFinished: true });
  answer.emit('close');
  expect(limit.signal.aborted).toBe(false);
});

test('nothing is left when it is over: no timer, no listener', () => {
  const { clock, answer, make } = setUp();
  make()[Symbol.dispose]();
  expect(clock.waiting).toBe(0);
  expect(answer.listenerCount('close')).toBe(0);
});

test('waiting ends with the abort, whatever the work does', async () => {
  const controller = new AbortController();
  const never = new Promise<never>(() => {});
  const waiting = orAborted(never, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(orAborted(never, controller.signal)).rejects.toThrow('enough');
  await expect(orAborted(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
});
