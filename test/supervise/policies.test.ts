import { expect, test } from 'vitest';
import { isHopeless, RunTimes } from '../../src/supervise/admission.ts';
import { DEFAULT_BACKOFF, restartDelay } from '../../src/supervise/backoff.ts';
import { PoisonMarks } from '../../src/supervise/poison.ts';
import { FakeClock } from '../helpers/fake-clock.ts';

test('the delay doubles from 100 ms up to 5 s; chance takes at most a fifth of it', () => {
  const delays = [0, 1, 2, 3, 6, 7, 8, 1000].map(fruitless => restartDelay(DEFAULT_BACKOFF, fruitless, 0));
  expect(delays).toEqual([0, 100, 200, 400, 3200, 5000, 5000, 5000]);
  expect(restartDelay(DEFAULT_BACKOFF, 3, 0.999)).toBeGreaterThanOrEqual(320);
});

function times(count: number, ms: number): RunTimes {
  const known = new RunTimes();
  for (let at = 0; at < count; at += 1) known.add(ms);
  return known;
}

test.each([
  ['the expected wait is more than twice the time left', {}, true],
  ['it is just twice', { timeLeftMs: 2500 }, false],
  ['nobody waits ahead', { waitingAhead: 0 }, false],
  ['too few run times are known', { times: times(19, 1000) }, false],
  ['more slots work through the queue', { slots: 4 }, false],
  ['there is no deadline', { timeLeftMs: Number.POSITIVE_INFINITY }, false],
])('hopeless or not: %s', (_, load, hopeless) => {
  expect(isHopeless({ waitingAhead: 10, slots: 2, times: times(20, 1000), timeLeftMs: 2499, ...load })).toBe(hopeless);
});

test('a few slow documents do not make the guess gloomy: the median counts, of the latest hundred', () => {
  const known = times(60, 100);
  for (let at = 0; at < 40; at += 1) known.add(60_000);
  expect([known.median, known.known]).toEqual([100, 100]);
  for (let at = 0; at < 20; at += 1) known.add(60_000);
  expect(known.median).toBe(60_000);
});

test('marks end after their time; the one not met with for longest goes when there are too many', async () => {
  const clock = new FakeClock();
  const marks = new PoisonMarks(clock, 1000);
  for (let at = 0; at < 1000; at += 1) marks.mark(`${at}`);
  expect(marks.has('0')).toBe(true);
  marks.mark('one more');
  expect([marks.has('0'), marks.has('1'), marks.size]).toEqual([true, false, 1000]);
  await clock.advance(1000);
  expect([marks.has('0'), marks.size]).toEqual([false, 0]);
});

test('with a time of zero nothing is ever marked', () => {
  const marks = new PoisonMarks(new FakeClock(), 0);
  marks.mark('a');
  expect([marks.has('a'), marks.size]).toEqual([false, 0]);
});
