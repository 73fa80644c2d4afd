import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EgressPolicy } from '../../../src/egress/policy.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { within } from '../../helpers/within.ts';
import { failure, Room } from './room.ts';

/** A server that counts who connects; what it says is no TLS, so a page that got through fails there. */
let server: Server;
let connections = 0;
let origin: string;

beforeEach(async () => {
  connections = 0;
  server = createServer(socket => {
    connections += 1;
    socket.on('error', () => {});
    socket.once('data', () => socket.end('no TLS here\r\n'));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.close();
});

const guarded = (lists: { allowList?: RegExp[]; denyList?: RegExp[] }) => {
  const rules = { allowList: [], denyList: [], denyPrivateIps: false, denyPublicIps: false, ...lists };
  return Room.open({ policy: new EgressPolicy(rules, { clock: systemClock }), judgesTunnels: true });
};

test('an allow list that speaks of paths lets https through where it matches, and nowhere else', async () => {
  await using room = await guarded({ allowList: [new RegExp(`^${origin}/open/`)] });
  const refused = await within(20_000, 'the refusal', failure(room.print({ url: `${origin}/closed/` })));
  expect(refused.code).toBe('FORBIDDEN');
  expect(connections).toBe(0);
  const reached = await within(20_000, 'the page', failure(room.print({ url: `${origin}/open/page` })));
  expect(reached).toMatchObject({ code: 'PAGE_LOAD_FAILED', facts: { error: expect.stringContaining('SSL') } });
  expect(connections).toBeGreaterThan(0);
});

test('what a frame and a worker fetch by https is judged as a whole, too', async () => {
  await using room = await guarded({ denyList: [/secret/] });
  const page = {
    'index.html': `<p id="o"></p><iframe srcdoc="<img src='${origin}/secret-frame'>"></iframe><script>
      new Worker('w.js').onmessage = () => { o.textContent = 'worker refused'; window.done = true; };
    </script>`,
    'w.js': `fetch('${origin}/secret-worker', { mode: 'no-cors' }).catch(() => postMessage(0));`,
  };
  expect(await room.say(page, { expression: 'window.done === true' })).toBe('worker refused');
  expect(connections).toBe(0);
  const blocked = room.lines.filter(line => line.includes('secret'));
  expect(blocked).toHaveLength(2);
  expect(blocked.join()).toContain('matches the expression from the denied list');
});

test('a host that was let through for one path stays closed for another', async () => {
  await using room = await guarded({ allowList: [new RegExp(`^${origin}/open/`)] });
  await within(20_000, 'the page', failure(room.print({ url: `${origin}/open/page` })));
  const before = connections;
  const said = await room.say(
    `<p id="o"></p><script>fetch('${origin}/closed', { mode: 'no-cors' }).catch(() => { o.textContent = 'closed'; done = 1 })</script>`,
    { expression: 'window.done === 1' },
  );
  expect(said).toBe('closed');
  expect(connections).toBe(before);
});
