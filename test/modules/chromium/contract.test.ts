import { afterAll } from 'vitest';
import type { Browser } from '../../../modules/chromium/browser.ts';
import type { Attempt } from '../../../src/supervise/types.ts';
import { processContract } from '../../contract/process.ts';
import { Room, type Wishes } from './room.ts';

const rooms: Room[] = [];
afterAll(async () => {
  for (const room of rooms) await room[Symbol.asyncDispose]();
});

processContract<Browser>('chromium', async () => {
  const made = new Map<Browser, Room>();
  const prepared = [await Room.make(), await Room.make()];
  rooms.push(...prepared);
  const print = async (browser: Browser, attempt: Attempt, wishes: Wishes = {}) => {
    const room = made.get(browser);
    if (!room) throw new Error('not one of ours');
    const { clean } = await browser.print(await room.job('<p>Hello', wishes), attempt);
    await clean;
  };
  return {
    create: () => {
      const room = prepared.shift();
      if (!room) throw new Error('a test makes two at most');
      made.set(room.browser, room);
      return room.browser;
    },
    leftovers: async () => (await Promise.all([...made.values()].map(room => room.leftovers()))).flat(),
    work: print,
    endless: (browser, attempt) => print(browser, attempt, { expression: 'for (;;);' }),
  };
});
