import { afterAll, beforeAll, expect, test } from 'vitest';
import { within } from '../../helpers/within.ts';
import { Room, Site } from './room.ts';

let room: Room;
let site: Site;

beforeAll(async () => {
  room = await Room.open();
  site = await Site.open({
    '/frame': 'from a frame',
    // Slow enough that a page which doesn't wait for it is printed without.
    '/slow.svg': (_, response) => {
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'image/svg+xml' });
        response.end(svg('a slow picture'));
      }, 400);
    },
  });
});

afterAll(async () => {
  await room[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const svg = (text: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40"><text y="20">${text}</text></svg>`;
const FAR = '<div style="height:6000px">far down</div>';

test.each([
  ['in the window', ''],
  ['near the window', '<div style="height:1500px">near</div>'],
  ['far from the window', FAR],
])('a slow picture %s that is loaded on scrolling is there, though nobody scrolls', async (_, before) => {
  const page = `${before}<img loading="lazy" src="${site.url('/slow.svg')}" width="200" height="40">`;
  const began = performance.now();
  expect(await room.say(page)).toContain('a slow picture');
  // Printing has a time limit of its own for what it waits for in vain: 2 s.
  expect(performance.now() - began).toBeLessThan(2000);
});

test('a frame that is loaded on scrolling is there, too', async () => {
  expect(await room.say(`${FAR}<iframe loading="lazy" src="${site.url('/frame')}"></iframe>`)).toContain(
    'from a frame',
  );
});

test('one that is not shown, can’t be had, or has no address, holds nothing up', async () => {
  const page = `kept<img loading="lazy" src="missing.png"><img loading="lazy"><iframe loading="lazy"></iframe>
    <img loading="lazy" style="display:none" src="${site.url('/slow.svg')}">${FAR}
    <img loading="lazy" src="${site.url('/nothing.png')}">`;
  expect(await within(10_000, 'the page', room.say(page))).toContain('kept');
});
