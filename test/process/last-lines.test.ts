import { expect, test } from 'vitest';
import { LastLines } from '../../src/process/last-lines.ts';

function after(...pieces: string[]): string[] {
  const lines = new LastLines(3);
  for (const piece of pieces) lines.push(piece);
  return lines.toArray();
}

test('only the last lines are kept, in their order', () => {
  expect(after('1\n2\n3\n4\n5\n')).toEqual(['3', '4', '5']);
  expect(after('1\n2\n3\n4\n5')).toEqual(['3', '4', '5']);
});

test('a line that comes in pieces is one line; one without an end counts too', () => {
  expect(after('fir', 'st\nsec', 'ond\nlast')).toEqual(['first', 'second', 'last']);
});

test('empty lines tell nothing and are not kept', () => {
  expect(after('a\n\n   \nb\n')).toEqual(['a', 'b']);
});

test('a line without end, or a huge one, does not fill the memory', () => {
  const lines = new LastLines(3);
  for (let at = 0; at < 1000; at += 1) lines.push('x'.repeat(10_000));
  expect(lines.toArray()[0]?.length).toBeLessThanOrEqual(2000);
  lines.push(`\n${'y'.repeat(50_000)}\n`);
  expect(lines.toArray().every(line => line.length <= 2000)).toBe(true);
});
