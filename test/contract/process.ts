import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { killAllChildren } from '../../src/process/child.ts';
import { type Attempt, EngineCrash, type Process } from '../../src/supervise/types.ts';
import { childrenOf } from '../helpers/processes.ts';
import { within } from '../helpers/within.ts';

/** An engine, as its contract with the supervisor is tested: by what one of its instances does. */
export interface ProcessUnderTest<P extends Process> {
  /** Makes (doesn't start) an instance. */
  create(id: string): P;
  /** Names of what its instances have left on the disk; none once they are gone. */
  leftovers(): Promise<readonly string[]>;
  /** A task that ends by itself, soon. */
  work(process: P, attempt: Attempt): Promise<unknown>;
  /** A task that never ends by itself. */
  endless(process: P, attempt: Attempt): Promise<unknown>;
  /** Tidies up after the test. */
  dispose?(): Promise<void>;
}

const START_MS = 20_000;
const END_MS = 5_000;

/**
 * What every engine owes its supervisor, see src/supervise/types.ts. To be called in a test file of the engine.
 * @param setUp called for each test
 */
export function processContract<P extends Process>(engine: string, setUp: () => Promise<ProcessUnderTest<P>>): void {
  describe(`${engine} keeps the contract of a supervised process`, () => {
    let under: ProcessUnderTest<P>;
    /** Children of this test run that were there before. */
    let before: number[];
    let attempts = 0;

    beforeEach(async () => {
      under = await setUp();
      before = await childrenOf(process.pid);
    });

    afterEach(async () => {
      killAllChildren();
      await under.dispose?.();
    });

    const children = async () => (await childrenOf(process.pid)).filter(pid => !before.includes(pid));
    const leftBehind = async () => [...(await children()), ...(await under.leftovers())];

    async function started(id = `${engine}-1.1`): Promise<P> {
      const made = under.create(id);
      await within(START_MS, 'the start', made.start(new AbortController().signal));
      return made;
    }

    function attempt(instance: string, signal: AbortSignal = new AbortController().signal): Attempt {
      attempts += 1;
      return { id: `${instance}#${attempts}`, instance, number: 1, signal, retireInstance: () => {} };
    }

    test('not started, it is not healthy, and ending it is nothing special', async () => {
      const made = under.create(`${engine}-1.1`);
      expect(made.healthy).toBe(false);
      await within(END_MS, 'the stop', made.stop());
      expect(await leftBehind()).toEqual([]);
    });

    test('started, it is healthy, does its work, answers, and tells what it uses', async () => {
      const made = await started();
      expect(made.healthy).toBe(true);
      await within(START_MS, 'the work', under.work(made, attempt(`${engine}-1.1`)));
      if (made.ping) await within(END_MS, 'the answer to a ping', made.ping());
      expect(await made.usage()).toMatchObject({ residentBytes: expect.any(Number), stopped: false });
      expect((await made.usage())?.residentBytes).toBeGreaterThan(100_000);
      await within(END_MS, 'the stop', made.stop());
    });

    test('stopped, even twice at once, it leaves no process and no file, and its end is told without an error', async () => {
      const made = await started();
      await within(END_MS, 'both stops', Promise.all([made.stop(), made.stop()]));
      expect(await within(END_MS, 'its end', made.ended)).toBeUndefined();
      expect([made.healthy, await made.usage(), await leftBehind()]).toEqual([false, undefined, []]);
      await within(END_MS, 'one more stop', made.stop());
    });

    test.each([0, 1, 5, 20, 50, 100, 200])('called off %i ms after its start began, it leaves nothing', async ms => {
      const made = under.create(`${engine}-1.1`);
      const giveUp = new AbortController();
      const start = made.start(giveUp.signal).then(
        () => 'started',
        () => 'called off',
      );
      if (ms > 0) await Promise.race([start, new Promise(resolve => setTimeout(resolve, ms))]);
      giveUp.abort(new Error('called off'));
      const how = await within(END_MS, 'the start to settle', start);
      if (how === 'started') await within(END_MS, 'the stop', made.stop());
      expect([made.healthy, await leftBehind()]).toEqual([false, []]);
    });

    test('stopped while it starts, it does not become ready, and leaves nothing', async () => {
      const made = under.create(`${engine}-1.1`);
      const start = made.start(new AbortController().signal).catch(() => {});
      await new Promise(resolve => setTimeout(resolve, 30));
      await within(END_MS, 'the stop', made.stop());
      await within(START_MS, 'the start to settle', start);
      await within(END_MS, 'one more stop', made.stop());
      expect([made.healthy, await leftBehind()]).toEqual([false, []]);
    });

    test('killed, its end is told with an error, its task fails, and a stop cleans up', async () => {
      const made = await started();
      const task = under.endless(made, attempt(`${engine}-1.1`)).then(
        () => 'done',
        error => error,
      );
      await new Promise(resolve => setTimeout(resolve, 100));
      for (const pid of await children()) kill(pid, 'SIGKILL');
      expect(await within(END_MS, 'its end', made.ended)).toBeInstanceOf(Error);
      expect(made.healthy).toBe(false);
      expect(await within(END_MS, 'the task', task)).toBeInstanceOf(EngineCrash);
      await within(END_MS, 'the stop', made.stop());
      expect(await leftBehind()).toEqual([]);
    });

    test('frozen, it says so, and can be ended all the same', async () => {
      const made = await started();
      const pids = await children();
      for (const pid of pids) kill(pid, 'SIGSTOP');
      // A process stops once it gets to run, not when the signal is sent.
      await expect.poll(() => made.usage(), { timeout: END_MS }).toMatchObject({ stopped: true });
      await within(END_MS, 'the stop', made.stop());
      expect(await leftBehind()).toEqual([]);
    });

    test('told to end one task, it does so or says that it can not', async () => {
      const made = await started();
      const gone = new AbortController();
      const one = attempt(`${engine}-1.1`, gone.signal);
      const task = under.endless(made, one).then(
        () => 'ended',
        () => 'ended',
      );
      await new Promise(resolve => setTimeout(resolve, 100));
      gone.abort(new Error('gone'));
      if (await within(END_MS, 'its answer', made.abandon(one))) {
        expect(await within(END_MS, 'the task', task)).toBe('ended');
        await within(START_MS, 'the next task', under.work(made, attempt(`${engine}-1.1`)));
      }
      await within(END_MS, 'the stop', made.stop());
      expect(await within(END_MS, 'the task', task)).toBe('ended');
      expect(await leftBehind()).toEqual([]);
    });

    test('two side by side do not disturb each other', async () => {
      const [a, b] = await Promise.all([started(`${engine}-1.1`), started(`${engine}-2.1`)]);
      await within(END_MS, 'the stop of one', a.stop());
      expect(b.healthy).toBe(true);
      await within(START_MS, 'the work of the other', under.work(b, attempt(`${engine}-2.1`)));
      await within(END_MS, 'the stop of the other', b.stop());
      expect(await leftBehind()).toEqual([]);
    });
  });
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // its parent's end took it along
  }
}
