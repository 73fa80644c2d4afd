import { expect, test } from 'vitest';
import { Failure } from '../../src/failure/failure.ts';
import { settle } from '../helpers/fake-clock.ts';
import { Press } from '../helpers/press.ts';
import { within } from '../helpers/within.ts';

/** A request of many files whose ends a test decides. */
class Batch {
  readonly begun: number[] = [];
  readonly signal = new AbortController();
  outcome: unknown;
  settled = false;
  readonly #ends: PromiseWithResolvers<string>[];

  constructor(press: Press, count: number) {
    this.#ends = Array.from({ length: count }, () => Promise.withResolvers<string>());
    for (const { promise } of this.#ends) promise.catch(() => {});
    const work = (index: number) => {
      this.begun.push(index);
      press.begun.push(`file ${index}`);
      return (this.#ends[index] as PromiseWithResolvers<string>).promise;
    };
    press.supervisor
      .runAll([...this.#ends.keys()], work, { signal: this.signal.signal })
      .then(
        values => {
          this.outcome = values;
        },
        error => {
          this.outcome = Failure.is(error) ? error.code : (error as Error).message;
        },
      )
      .finally(() => {
        this.settled = true;
      });
  }

  async finish(...indexes: number[]): Promise<void> {
    for (const index of indexes) {
      this.#ends[index]?.resolve(`result ${index}`);
      await settle();
    }
  }

  async fail(index: number): Promise<void> {
    this.#ends[index]?.reject(new Error(`file ${index} is broken`));
    await settle();
  }
}

async function batch(press: Press, count: number): Promise<Batch> {
  const made = new Batch(press, count);
  await settle();
  return made;
}

test('files are spread over the instances; the results come in the order of the files', async () => {
  const press = new Press({ instances: 2 });
  const files = await batch(press, 4);
  expect(press.alive).toEqual(['fake-1.1', 'fake-2.1']);
  await files.finish(1, 0, 3, 2);
  expect(files.outcome).toEqual(['result 0', 'result 1', 'result 2', 'result 3']);
});

test('no more files are in flight than there are instances, whatever else is free', async () => {
  const press = new Press({ instances: 2, maxConcurrency: 3 });
  const files = await batch(press, 6);
  expect([files.begun, press.supervisor.activeTasks]).toEqual([[0, 1], 2]);
  await files.finish(0);
  expect(files.begun).toEqual([0, 1, 2]);
});

test('its next file goes behind those of others: a hundred files do not starve single ones', async () => {
  const press = new Press();
  const files = await batch(press, 100);
  const jobs = [await press.submit('a'), await press.submit('b')];
  await files.finish(0);
  expect(press.begun).toEqual(['file 0', 'a']);
  for (const job of jobs) await job.finish();
  expect(press.begun).toEqual(['file 0', 'a', 'b', 'file 1']);
});

test('the limit of the queue counts the request once: later files are never refused', async () => {
  const press = new Press({ maxQueueSize: 1 });
  const running = await press.submit('running');
  const files = await batch(press, 3);
  expect([press.supervisor.queueSize, (await press.submit('too many')).state]).toEqual([1, 'QUEUE_FULL']);
  await running.finish();
  const waiting = await press.submit('waiting');
  await files.finish(0);
  expect([waiting.state, press.supervisor.queueSize]).toEqual(['running', 0]);
  await waiting.finish();
  await files.finish(1, 2);
  expect(files.outcome).toEqual(['result 0', 'result 1', 'result 2']);
});

test('a request of many files that is refused is refused as a whole: nothing of it is begun', async () => {
  const press = new Press({ instances: 2, maxQueueSize: 1 });
  for (const name of ['a', 'b', 'waiting']) await press.submit(name);
  const files = await batch(press, 4);
  expect([files.outcome, files.begun, press.supervisor.queueSize]).toEqual(['QUEUE_FULL', [], 1]);
});

test('the first failure by index is the one told; what has not begun is not begun', async () => {
  const press = new Press({ instances: 3 });
  const files = await batch(press, 9);
  await files.fail(2);
  expect(files.settled).toBe(false);
  await files.fail(1);
  await files.finish(0);
  expect([files.outcome, files.begun]).toEqual(['file 1 is broken', [0, 1, 2]]);
});

test('a file that waits for its slot leaves the line when another has failed', async () => {
  const press = new Press({ instances: 2 });
  const files = await batch(press, 4);
  const other = await press.submit('other');
  await files.finish(0);
  expect([other.state, press.supervisor.activeTasks]).toEqual(['running', 2]);
  await files.fail(1);
  expect([files.settled, files.outcome, files.begun]).toEqual([true, 'file 1 is broken', [0, 1]]);
  expect([press.supervisor.queueSize, press.supervisor.activeTasks]).toEqual([0, 1]);
});

test('when the client leaves, all of it ends', async () => {
  const press = new Press({ instances: 2 }, { abandon: 'ends it' });
  const files = await batch(press, 5);
  files.signal.abort(new Failure('CLIENT_GONE'));
  await press.pass(500);
  expect([files.outcome, files.begun, press.supervisor.activeTasks]).toEqual(['CLIENT_GONE', [0, 1], 0]);
});

test('no files, no work', async () => {
  const press = new Press();
  const run = press.supervisor.runAll([], async () => 'done', { signal: new AbortController().signal });
  expect(await within(1000, 'nothing', run)).toEqual([]);
  expect(press.processes).toHaveLength(0);
});
