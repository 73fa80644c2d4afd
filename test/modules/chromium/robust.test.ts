import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { failureFrom } from '../../../src/failure/from-error.ts';
import { EngineCrash } from '../../../src/supervise/types.ts';
import { childrenOf } from '../../helpers/processes.ts';
import { within } from '../../helpers/within.ts';
import { failure, Room } from './room.ts';

const HUNG: [string, string, object][] = [
  ['a script that never returns', '<script>for (;;);</script>', {}],
  [
    'one that never returns once the page has loaded',
    '<script>onload = () => setTimeout(() => { for (;;); })</script>',
    { delayMs: 60_000 },
  ],
  ['one that never returns before printing', '<script>onbeforeprint = () => { for (;;); }</script>', {}],
  [
    'one that never returns when the page is left',
    '<script>onpagehide = onunload = onbeforeunload = () => { for (;;); }</script>',
    { delayMs: 60_000 },
  ],
  [
    'one that never stops asking and waiting',
    '<script>for (;;) { const x = new XMLHttpRequest(); x.open("GET", "/none", false); x.send() }</script>',
    {},
  ],
  ['a regular expression that explodes', '<script>/^(a+)+$/.test("a".repeat(40) + "b")</script>', {}],
];

test.each(HUNG)('%s ends at its deadline with its tab, and uses no processor any more', async (_, page, wishes) => {
  await using room = await Room.open({ lanes: 2 });
  const deadline = new AbortController();
  const hung = failure(room.print(page, { ...wishes, signal: deadline.signal }));
  await new Promise(resolve => setTimeout(resolve, 400));
  expect(await within(3_000, 'a neighbour', room.say('neighbour'))).toBe('neighbour');
  const reason = new Error('the deadline');
  deadline.abort(reason);
  expect(await within(2_000, 'the hung page to end', hung)).toBe(reason);
  await room.cpuWithin(500);
  expect(await room.cpuWithin(1_000)).toBeLessThan(150);
  expect(await Promise.all([room.say('one'), room.say('two')])).toEqual(['one', 'two']);
});

test('a page that resists being left is thrown away with its lane, in bounded time', async () => {
  await using room = await Room.open();
  const { clean } = await room.printed('<script>onpagehide = () => { for (;;); }</script>printed');
  await within(5_000, 'the lane to be clean', clean);
  expect(await room.say('next')).toBe('next');
});

test('a script that is busy for good after printing ends with its lane', async () => {
  await using room = await Room.open();
  const { clean } = await room.printed('<script>onafterprint = () => setTimeout(() => { for (;;); })</script>printed');
  await within(5_000, 'the lane to be clean', clean);
  expect(await room.say('next')).toBe('next');
  await room.cpuWithin(300);
  expect(await room.cpuWithin(1_000)).toBeLessThan(150);
});

test('a renderer that dies takes its own page along, and no other', async () => {
  await using room = await Room.open({ lanes: 2 });
  const idle = await room.renderers();
  const a = failure(room.print('<p>a', { delayMs: 20_000 }));
  await new Promise(resolve => setTimeout(resolve, 300));
  const b = room.say('<p id="o">b', { delayMs: 2_000 });
  await new Promise(resolve => setTimeout(resolve, 500));
  // Of the two lanes the first took the page that was there first.
  const busy = await room.renderers();
  expect(busy.length).toBeGreaterThanOrEqual(2);
  process.kill(idle[0] ?? 0, 'SIGKILL');
  const victim = await Promise.race([
    a,
    b.then(
      () => undefined,
      error => error,
    ),
  ]);
  expect(victim).toBeInstanceOf(EngineCrash);
  expect(room.browser.healthy).toBe(true);
  expect(await Promise.all([room.say('one'), room.say('two')])).toEqual(['one', 'two']);
});

test.each([5, 20, 50, 100, 200, 400, 800])(
  'a renderer that dies %i ms after its page came is no fault of the page',
  async ms => {
    await using room = await Room.open({ lanes: 1 });
    const rows = Array.from({ length: 8_000 }, (_, n) => `<p>${n}</p>`).join('');
    const print = room.print(rows).then(
      () => undefined,
      error => error,
    );
    await new Promise(resolve => setTimeout(resolve, ms));
    for (const pid of await room.renderers()) process.kill(pid, 'SIGKILL');
    const error = await within(5_000, 'the page to be told', print);
    if (error !== undefined) expect(error).toBeInstanceOf(EngineCrash);
    // Where it died once its page was done, whoever comes before that is known is a victim, too.
    await expect.poll(() => room.say('next').catch(() => 'victim'), { timeout: 5_000 }).toBe('next');
  },
);

test('the browser killed, all its pages are victims, also those that still come', async () => {
  const room = await Room.open({ lanes: 3 });
  const pages = [1, 2, 3, 4].map(() => failure(room.print('x', { delayMs: 20_000 })));
  await new Promise(resolve => setTimeout(resolve, 300));
  process.kill(room.browser.pid ?? 0, 'SIGKILL');
  const late = failure(room.print('late'));
  for (const error of await within(3_000, 'all to be told', Promise.all([...pages, late]))) {
    expect(error).toBeInstanceOf(EngineCrash);
  }
  expect(await within(3_000, 'its end', room.browser.ended)).toBeInstanceOf(EngineCrash);
  expect(room.browser.healthy).toBe(false);
  await room[Symbol.asyncDispose]();
});

test('pages that come at any moment of the browser’s death are victims, too', async () => {
  for (const after of [0, 1, 3, 6, 10]) {
    const room = await Room.open({ lanes: 4 });
    const errors: unknown[] = [];
    const clients = Array.from({ length: 4 }, async () => {
      while (errors.length === 0) await room.print('x').catch(error => errors.push(error));
    });
    await new Promise(resolve => setTimeout(resolve, 200 + after));
    process.kill(room.browser.pid ?? 0, 'SIGKILL');
    await within(5_000, 'all to be told', Promise.all(clients));
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) expect(error).toBeInstanceOf(EngineCrash);
    await room[Symbol.asyncDispose]();
  }
});

test('six pages at once are all painted', async () => {
  await using room = await Room.open({ lanes: 6 });
  const page =
    '<p id="o">0</p><script>let n = 0; const f = () => { o.textContent = ++n > 20 ? "painted" : "starved"; window.done = n > 20; requestAnimationFrame(f) }; f()</script>';
  const said = await Promise.all(
    Array.from({ length: 6 }, () => room.say(page, { expression: 'window.done === true' })),
  );
  expect(said).toEqual(Array(6).fill('painted'));
});

test('where the disk is full, that is what the client hears', async () => {
  await using room = await Room.open();
  const error = await failure(room.print('x', { output: '/dev/full' }));
  expect(failureFrom(error).code).toBe('DISK_FULL');
  expect(await room.say('next')).toBe('next');
});

test('a request that has gone while it waits for a lane leaves at once', async () => {
  await using room = await Room.open();
  const gone = new AbortController();
  const first = room.say('first', { delayMs: 500 });
  await new Promise(resolve => setTimeout(resolve, 100));
  const second = failure(room.browser.print(await room.job('second'), { id: randomUUID(), signal: gone.signal }));
  gone.abort(new Error('gone'));
  expect(await within(100, 'it to leave', second)).toMatchObject({ message: 'gone' });
  expect(await first).toBe('first');
});

test('stopped in the midst of its work, the browser ends all of it, and its doors are closed', async () => {
  const room = await Room.open({ lanes: 2 });
  const pages = ['<p>x', '<script>for (;;);</script>'].map(page => failure(room.print(page, { delayMs: 20_000 })));
  await new Promise(resolve => setTimeout(resolve, 400));
  await within(3_000, 'the stop', room.browser.stop());
  for (const error of await within(1_000, 'the pages', Promise.all(pages))) expect(error).toBeInstanceOf(EngineCrash);
  expect([await room.leftovers(), await childrenOf(process.pid)]).toEqual([[], []]);
  await room[Symbol.asyncDispose]();
});
