import { expect, test } from 'vitest';
import { Runner, RunnerDead, type RunnerOptions, UnexpectedQuit } from '../../src/supervise/runner.ts';
import { StartTimedOut } from '../../src/supervise/start-limit.ts';
import type { Worker } from '../../src/supervise/types.ts';
import { FakeClock, settle } from '../helpers/fake-clock.ts';
import { type LogLine, loggerInto } from '../helpers/press.ts';
import { within } from '../helpers/within.ts';

/** A worker that ends when the test says so, or when killed, if it obeys. */
class Hand implements Worker {
  readonly name: string;
  killed = 0;
  served = false;
  obeys = true;
  readonly #end = Promise.withResolvers<void>();

  constructor(name: string) {
    this.name = name;
    this.#end.promise.catch(() => {});
  }

  kill(): void {
    this.killed += 1;
    if (this.obeys) this.#end.resolve();
  }

  wait(): Promise<void> {
    return this.#end.promise;
  }

  async end(error?: Error): Promise<void> {
    if (error) this.#end.reject(error);
    else this.#end.resolve();
    await settle();
  }
}

function setUp(options: Partial<RunnerOptions> = {}) {
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  const runner = new Runner({ surroundings: { clock, random: () => 0 }, log: loggerInto(lines), ...options });
  const hands: Hand[] = [];
  const start = (name: string) => async () => {
    const hand = new Hand(name);
    hands.push(hand);
    return hand;
  };
  const last = () => hands.at(-1) as Hand;
  const states = () => Object.fromEntries(runner.report().workers.map(({ id, state }) => [id, state]));
  return { clock, lines, runner, hands, start, last, states };
}

test('a worker starts at once, and asking again while it runs changes nothing', async () => {
  const { runner, hands, start, states } = setUp();
  runner.startWorker('a', start('first'));
  await settle();
  runner.startWorker('a', start('second'));
  await settle();
  expect(hands.map(({ name }) => name)).toEqual(['first']);
  expect(states()).toEqual({ a: 'running' });
});

test('asking again during its delay changes nothing', async () => {
  const { clock, runner, hands, start, last } = setUp();
  runner.startWorker('a', start('first'));
  await settle();
  await last().end(new Error('died'));
  runner.startWorker('a', start('second'));
  await clock.advance(99);
  expect(hands).toHaveLength(1);
  await clock.advance(1);
  expect(hands.map(({ name }) => name)).toEqual(['first', 'first']);
});

test('a worker that is being stopped starts again at once, in the new way, when it has ended', async () => {
  const { clock, runner, hands, start, last } = setUp();
  runner.startWorker('a', start('old'));
  await settle();
  last().obeys = false;
  const stopped = runner.stopWorker('a');
  runner.startWorker('a', start('new'));
  await settle();
  expect(hands).toHaveLength(1);
  await last().end();
  await within(1000, 'the stop', stopped);
  expect(hands.map(({ name }) => name)).toEqual(['old', 'new']);
  expect(clock.now()).toBe(0);
});

test('stop, start, stop in a row: the last call wins', async () => {
  const { runner, hands, start, states } = setUp();
  runner.startWorker('a', start('old'));
  await settle();
  const stops = [runner.stopWorker('a')];
  runner.startWorker('a', start('new'));
  stops.push(runner.stopWorker('a'));
  await within(1000, 'both stops', Promise.all(stops));
  expect(hands.map(({ name }) => name)).toEqual(['old']);
  expect(states()).toEqual({});
});

test('stop, start, start in a row: the last start wins', async () => {
  const { runner, hands, start } = setUp();
  runner.startWorker('a', start('old'));
  await settle();
  void runner.stopWorker('a');
  runner.startWorker('a', start('new'));
  runner.startWorker('a', start('newest'));
  await settle();
  expect(hands.map(({ name }) => name)).toEqual(['old', 'newest']);
});

test('a worker started again after a stop is an ordinary one: its next quit is reported, and it comes back', async () => {
  const { clock, runner, hands, start, last } = setUp();
  runner.startWorker('a', start('old'));
  await settle();
  void runner.stopWorker('a');
  runner.startWorker('a', start('new'));
  await settle();
  await last().end();
  expect(runner.report().workers[0]?.lastError).toContain('though nobody had asked');
  await clock.advance(100);
  expect(hands.map(({ name }) => name)).toEqual(['old', 'new', 'new']);
});

test('a stop ends a start that is going on', async () => {
  const { runner, states } = setUp();
  let reason: unknown;
  runner.startWorker('a', signal => {
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason;
        reject(signal.reason);
      });
    });
  });
  await within(1000, 'the stop', runner.stopWorker('a'));
  expect(String(reason)).toContain('was stopped');
  expect(states()).toEqual({});
});

test('a worker that turns up after it was stopped is killed at once', async () => {
  const { runner, states } = setUp();
  const late = Promise.withResolvers<Worker>();
  const hand = new Hand('late');
  runner.startWorker('a', () => late.promise);
  const stopped = runner.stopWorker('a');
  late.resolve(hand);
  await within(1000, 'the stop', stopped);
  expect(hand.killed).toBe(1);
  expect(states()).toEqual({});
});

test('a stop ends a delay; no timer is left', async () => {
  const { clock, runner, hands, start, last, states } = setUp();
  runner.startWorker('a', start('a'));
  await settle();
  await last().end(new Error('died'));
  expect(states()).toEqual({ a: 'delayed' });
  await within(1000, 'the stop', runner.stopWorker('a'));
  expect([states(), clock.waiting]).toEqual([{}, 0]);
  await clock.advance(10_000);
  expect(hands).toHaveLength(1);
});

test('stopping an unknown worker does nothing', async () => {
  const { runner } = setUp();
  await within(1000, 'the stop', runner.stopWorker('nobody'));
});

test('a start that is not through in its time is called off and tried again', async () => {
  const { clock, runner, states } = setUp();
  const signals: AbortSignal[] = [];
  const start = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<Worker>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const failures: [Error, number][] = [];
  runner.startWorker('a', start, { startTimeout: 5000, onFailure: (error, ms) => failures.push([error, ms]) });
  await clock.advance(4999);
  expect(signals[0]?.aborted).toBe(false);
  await clock.advance(1);
  expect(failures).toEqual([[expect.any(StartTimedOut), 100]]);
  expect(failures[0]?.[0].message).toContain('within 5000 ms');
  await clock.advance(100);
  expect([signals.length, states()]).toEqual([2, { a: 'starting' }]);
  await runner.stopWorker('a');
  expect(clock.waiting).toBe(0);
});

test('a start that throws at once is a failed start like any other, and leaves no timer', async () => {
  const { clock, runner } = setUp();
  const start = () => {
    throw new Error('no');
  };
  runner.startWorker('a', start, { startTimeout: 1000 });
  await settle();
  expect(runner.report().workers[0]).toMatchObject({ state: 'delayed', lastError: 'no' });
  expect(clock.waiting).toBe(1);
  await runner.stopWorker('a');
  expect(clock.waiting).toBe(0);
});

test('a worker that becomes ready only after its time is ended, not used', async () => {
  const { clock, runner } = setUp();
  const hand = new Hand('late');
  runner.startWorker('a', signal => new Promise(resolve => signal.addEventListener('abort', () => resolve(hand))), {
    startTimeout: 1000,
  });
  await clock.advance(1000);
  expect(hand.killed).toBe(1);
  expect(runner.report().workers[0]).toMatchObject({ state: 'delayed', restartsByReason: { 'start failed': 1 } });
});

test('the delay grows for starts that fail, up to 5 s, and is gone once work was done', async () => {
  const { clock, runner, last, start } = setUp();
  let failing = true;
  let tries = 0;
  const flaky = async () => {
    tries += 1;
    if (failing) throw new Error('no');
    return start('a')();
  };
  runner.startWorker('a', flaky);
  for (const delay of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
    const before = tries;
    await clock.advance(delay - 1);
    expect(tries).toBe(before);
    await clock.advance(1);
    expect(tries).toBe(before + 1);
  }
  failing = false;
  await clock.advance(5000);
  last().served = true;
  const before = tries;
  await last().end(new Error('died'));
  expect(tries).toBe(before + 1);
});

test('a death before any work was done counts like a failed start', async () => {
  const { clock, runner, hands, start, last } = setUp();
  runner.startWorker('a', start('a'));
  await settle();
  for (const delay of [100, 200, 400]) {
    const before = hands.length;
    await last().end(new Error('died'));
    await clock.advance(delay - 1);
    expect(hands).toHaveLength(before);
    await clock.advance(1);
    expect(hands).toHaveLength(before + 1);
  }
});

test('a worker that ended well though nobody asked is an unexpected quit', async () => {
  const fatal: Error[] = [];
  const { runner, start, last } = setUp({ isFatal: error => void fatal.push(error) as unknown as boolean });
  runner.startWorker('a', start('a'));
  await settle();
  await last().end();
  expect(fatal).toEqual([expect.any(UnexpectedQuit)]);
  expect(runner.report().workers[0]?.restartsByReason['unexpected quit']).toBe(1);
});

test('a fatal error ends all workers, and wait tells it once all have ended, never before', async () => {
  const { runner, hands, start } = setUp({ isFatal: error => error.message.startsWith('fatal') });
  runner.startWorker('a', start('a'));
  runner.startWorker('b', start('b'));
  await settle();
  const [a, b] = hands as [Hand, Hand];
  b.obeys = false;
  let over = false;
  const waited = runner.wait().finally(() => {
    over = true;
  });
  waited.catch(() => {});
  await a.end(new Error('fatal: a'));
  expect([b.killed, over]).toEqual([1, false]);
  await b.end(new Error('of no importance'));
  await expect(within(1000, 'the runner', waited)).rejects.toThrow('fatal: a');
});

test('of several fatal errors the most important is told; one while stopping counts too', async () => {
  const { runner, hands, start } = setUp({
    isFatal: error => error.message.startsWith('fatal'),
    moreImportant: (a, b) => (a.message > b.message ? a : b),
  });
  for (const id of ['a', 'b', 'c']) runner.startWorker(id, start(id));
  await settle();
  for (const hand of hands) hand.obeys = false;
  void runner.stopWorker('a').catch(() => {});
  await hands[0]?.end(new Error('fatal 1'));
  expect(hands.map(({ killed }) => killed)).toEqual([1, 1, 1]);
  await hands[1]?.end(new Error('fatal 3'));
  await hands[2]?.end(new Error('fatal 2'));
  await expect(within(1000, 'the runner', runner.wait())).rejects.toThrow('fatal 3');
});

test('killed, it ends all workers, starts none any more, and its wait settles', async () => {
  const { clock, lines, runner, hands, start, last } = setUp();
  runner.startWorker('running', start('running'));
  runner.startWorker('starting', signal => {
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  runner.startWorker('delayed', async () => Promise.reject(new Error('no')));
  await settle();
  last().obeys = false;
  runner.kill();
  runner.startWorker('new', start('new'));
  expect(lines.at(-1)?.text).toContain('not started');
  let over = false;
  const waited = runner.wait().then(() => {
    over = true;
  });
  await settle();
  expect(over).toBe(false);
  await last().end();
  await within(1000, 'the runner', waited);
  expect([hands.length, clock.waiting, runner.report().workers.length]).toEqual([1, 0, 0]);
});

test('once it has ended, every call on it says so', async () => {
  const { runner, start } = setUp();
  runner.kill();
  await within(1000, 'the runner', runner.wait());
  expect(() => runner.startWorker('a', start('a'))).toThrow(RunnerDead);
  await expect(runner.stopWorker('a')).rejects.toThrow(RunnerDead);
});

test('runners nest: the inner one is a worker of the outer', async () => {
  const { runner: outer, clock } = setUp();
  const inner = new Runner({ surroundings: { clock, random: () => 0 }, log: loggerInto([]) });
  const hand = new Hand('inner');
  inner.startWorker('a', async () => hand);
  outer.startWorker('inner', async () => inner);
  await settle();
  outer.kill();
  await within(1000, 'both', outer.wait());
  expect(hand.killed).toBe(1);
});

test('many restarts leave no listener behind', async () => {
  const { clock, runner } = setUp();
  let added = 0;
  runner.startWorker('a', async () => Promise.reject(new Error('no')));
  const { addEventListener } = AbortSignal.prototype;
  AbortSignal.prototype.addEventListener = function (this: AbortSignal, ...args: Parameters<typeof addEventListener>) {
    added += 1;
    return addEventListener.apply(this, args);
  };
  const { removeEventListener } = AbortSignal.prototype;
  AbortSignal.prototype.removeEventListener = function (
    this: AbortSignal,
    ...args: Parameters<typeof removeEventListener>
  ) {
    added -= 1;
    return removeEventListener.apply(this, args);
  };
  try {
    await clock.advance(200_000);
  } finally {
    Object.assign(AbortSignal.prototype, { addEventListener, removeEventListener });
  }
  expect(runner.report().workers[0]?.restartsByReason['start failed']).toBeGreaterThan(40);
  expect(added).toBeLessThanOrEqual(2);
  runner.kill();
  await within(1000, 'the runner', runner.wait());
});
