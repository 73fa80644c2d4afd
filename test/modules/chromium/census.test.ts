import type { Connection } from 'puppeteer';
import { expect, test, vi } from 'vitest';
import { childrenOf } from '../../helpers/processes.ts';
import { Room } from './room.ts';

/** The browser's own word on what is in it. */
let connection: Connection;
vi.mock('../../../modules/chromium/devtools.ts', async original => {
  const real = await original<typeof import('../../../modules/chromium/devtools.ts')>();
  return {
    ...real,
    connectTo: async (...parts: Parameters<typeof real.connectTo>) => {
      connection = await real.connectTo(...parts);
      return connection;
    },
  };
});

async function census() {
  const { targetInfos } = await connection.send('Target.getTargets');
  const { browserContextIds } = await connection.send('Target.getBrowserContexts');
  return { tabs: targetInfos.filter(({ type }) => type === 'page').length, contexts: browserContextIds.length };
}

const LANES = 3;
const KINDS = [
  '<p>x',
  '<script>window.x = 1</script>',
  '<script>open("about:blank")</script>',
  '<iframe src="http://127.0.0.1:9/"></iframe>',
  '<script>new Worker("data:text/javascript,for(;;);")</script>',
  '<script>new SharedWorker("data:text/javascript,0")</script>',
];

test('after a hundred pages there are no more tabs, contexts and doors than lanes, and none after the end', async () => {
  await using room = await Room.open({ lanes: LANES });
  const print = (n: number) =>
    Promise.all(Array.from({ length: n }, (_, k) => room.print(KINDS[k % KINDS.length] ?? '')));
  const doors = () => process.getActiveResourcesInfo().filter(kind => kind === 'TCPServerWrap').length;
  // All the same number, as each lane has one of each; some lanes may have been closed, and are made when they are wanted.
  const extra = async () => {
    const { tabs, contexts } = await census();
    return [tabs - doors(), contexts - doors(), doors() >= 1 && doors() <= LANES];
  };
  await print(12);
  await expect.poll(extra, { timeout: 3_000 }).toEqual([0, 0, true]);
  for (let round = 0; round < 4; round += 1) await print(25);
  await expect.poll(extra, { timeout: 3_000 }).toEqual([0, 0, true]);
  expect(await room.leftovers()).toHaveLength(1);
  await room.browser.stop();
  expect([await room.leftovers(), await childrenOf(process.pid), doors()]).toEqual([[], [], 0]);
});
