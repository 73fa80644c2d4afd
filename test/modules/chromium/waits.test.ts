import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { within } from '../../helpers/within.ts';
import { failure, Room } from './room.ts';

let room: Room;
beforeAll(async () => {
  room = await Room.open({ lanes: 2 });
});
afterAll(() => room[Symbol.asyncDispose]());

const LATER =
  '<p id="o">early</p><script>setTimeout(() => { o.textContent = "late"; window.ready = true }, 300)</script>';

describe('an expression', () => {
  test('is waited for until it is true', async () => {
    expect(await room.say(LATER)).toBe('early');
    expect(await room.say(LATER, { expression: 'window.ready === true' })).toBe('late');
  });

  test('may be a promise', async () => {
    expect(await room.say(LATER, { expression: 'new Promise(r => setTimeout(() => r(true), 500))' })).toBe('late');
  });

  test('that is null is not true yet', async () => {
    expect(await room.say(LATER, { expression: 'window.ready === true ? true : null' })).toBe('late');
  });

  test.each(['undefined', '42', '"yes"', '({})', 'NaN', 'nope()', 'throw 1', '(', 'Promise.reject(new Error("no"))'])(
    '%s is the client’s fault at once',
    async expression => {
      const error = await failure(room.print('x', { expression }));
      expect(error).toMatchObject({ code: 'EXPRESSION_FAILED', facts: { expression } });
    },
  );
});

describe('a selector', () => {
  test('is waited for until its first element is visible', async () => {
    const page =
      '<p id="o" style="display:none">late</p><script>setTimeout(() => o.style.display = "block", 300)</script>';
    expect(await room.say(page, { selector: '#o' })).toBe('late');
    const added =
      '<script>setTimeout(() => document.body.append(Object.assign(document.createElement("b"), { textContent: "added" })), 300)</script>';
    expect(await room.say(added, { selector: 'body > b' })).toBe('added');
  });

  test.each(['#', 'a[', '', '::'])('%j is no selector, or none at all', async selector => {
    if (selector === '') expect(await room.say('x', { selector })).toBe('x');
    else
      expect(await failure(room.print('x', { selector }))).toMatchObject({
        code: 'SELECTOR_FAILED',
        facts: { selector },
      });
  });

  test('may contain whatever quotes it likes', async () => {
    expect(await room.say('<p title="a\'b">q</p>', { selector: `p[title="a'b"]` })).toBe('q');
  });
});

describe('time', () => {
  test('is let pass where asked', async () => {
    expect(await room.say(LATER, { delayMs: 600 })).toBe('late');
  });

  test('a page moves while one waits: what is seen is painted', async () => {
    const page =
      '<p id="o"></p><script>let n = 0; const f = () => { o.textContent = ++n > 5 ? "moved" : "still"; requestAnimationFrame(f) }; f()</script>';
    expect(await room.say(page, { delayMs: 500 })).toBe('moved');
  });
});

test.each([
  ['an expression that never comes true', { expression: 'false' }],
  ['an expression that never settles', { expression: 'new Promise(() => {})' }],
  ['an expression that never returns', { expression: 'for (;;);' }],
  ['a selector that never appears', { selector: '#never' }],
  ['a long delay', { delayMs: 60_000 }],
])('%s ends at the deadline, and the lane is ready for the next page', async (_, wishes) => {
  const deadline = new AbortController();
  const print = failure(room.print('x', { ...wishes, signal: deadline.signal }));
  const reason = new Error('the deadline');
  setTimeout(() => deadline.abort(reason), 300);
  expect(await within(2_500, 'the print to end', print)).toBe(reason);
  expect(await room.say('next')).toBe('next');
});
