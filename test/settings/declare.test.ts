import { expect, test } from 'vitest';
import { bytes, duration, parseDuration, printDuration } from '../../src/settings/declare.ts';

test.each([
  ['', 0],
  ['512', 512],
  ['1k', 1000],
  ['1.5 KB', 1500],
  ['512MB', 512_000_000],
  ['2GiB', 2 * 1024 ** 3],
  ['2gi', 2 * 1024 ** 3],
  ['-1', undefined],
  ['1 apple', undefined],
])('the size %j is %j bytes', (raw, value) => {
  expect(bytes({ default: '', doc: '' }).parse(raw)).toBe(value);
});

test.each(['', '512MB', '2GiB', '1500B', '3KiB'])('the size %j is written as people write it', size => {
  const setting = bytes({ default: size, doc: '' });
  expect(setting.parse(setting.print(setting.default))).toBe(setting.default);
  if (size !== '1500B') expect(setting.print(setting.default)).toBe(size);
});

test.each([
  ['0', 0, '0s'],
  ['500ms', 500, '500ms'],
  ['90s', 90_000, '1m30s'],
  ['1h2m3.5s', 3_723_500, '1h2m3.5s'],
  ['1.5m', 90_000, '1m30s'],
])('the duration %j is %j ms, written %j', (raw, ms, written) => {
  expect(parseDuration(raw)).toBe(ms);
  expect(printDuration(ms)).toBe(written);
  expect(parseDuration(written)).toBe(ms);
});

test.each(['30', 's', '1.s.', '5 s', '1d', ''])('%j is no duration', raw => {
  expect(parseDuration(raw)).toBeUndefined();
});

test('a duration out of its bounds is not accepted', () => {
  const setting = duration({ default: '20s', min: '1s', max: '1m', doc: '' });
  expect([setting.parse('999ms'), setting.parse('61s'), setting.parse('1m')]).toEqual([undefined, undefined, 60_000]);
});
