import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Isolation } from '../../../modules/chromium/settings.ts';
import { Room } from './room.ts';

const BUSY = 'for (const t = Date.now(); Date.now() - t < 50;);';
const code = (source: string) =>
  `URL.createObjectURL(new Blob([${JSON.stringify(source)}], { type: "text/javascript" }))`;

/** Pages that would use a processor for ever. */
const PAGES: Record<string, string> = {
  'a timer': `<script>setInterval(() => { ${BUSY} }, 0)</script>`,
  'an animation by script': `<canvas id="c"></canvas><script>
    const draw = () => { ${BUSY} requestAnimationFrame(draw) }; draw()</script>`,
  'an animation by style':
    '<style>@keyframes spin{to{transform:rotate(360deg);background:red;width:500px}}div{width:300px;height:300px;background:blue;animation:spin 1s linear infinite}</style><div></div>',
  'a dedicated worker': `<script>new Worker(${code('for (;;);')})</script>`,
  'a worker of a worker': `<script>new Worker(${code('for (let n = 0; n < 2; n++) new Worker("data:text/javascript,for(;;);")')})</script>`,
  'a shared worker': '<script>new SharedWorker("data:text/javascript,for(;;);")</script>',
  'an animated picture': `<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH/C05FVFNDQVBFMi4wAwEAAAAh+QQFAAAAACwAAAAAAQABAAACAkQBACH5BAUAAAAALAAAAAABAAEAAAICTAEAOw==">`,
  'an animated drawing':
    '<svg width="500" height="500"><rect width="400" height="400"><animate attributeName="width" from="0" to="400" dur="1s" repeatCount="indefinite"/></rect></svg>',
  'a message to itself': `<script>const c = new MessageChannel(); c.port1.onmessage = () => { ${BUSY} c.port2.postMessage(0) }; c.port2.postMessage(0)</script>`,
  'promises without end': '<script>setTimeout(async () => { for (;;) await 0 }, 500)</script>',
  'a page that reloads itself later': '<script>setInterval(() => location.reload(), 1000)</script>',
};

describe.each<Isolation>(['origin', 'process'])(
  'with isolation %s, once its PDF is there and its lane is clean',
  isolation => {
    let room: Room;
    beforeAll(async () => {
      room = await Room.open({ isolation });
    });
    afterAll(() => room[Symbol.asyncDispose]());

    test.each(Object.entries(PAGES))('%s uses no processor any more', async (_, page) => {
      await room.print(`${page}busy`, { delayMs: 100 });
      // What can do nothing but move is left after a second; then the lane gets ready for the next page.
      await room.cpuWithin(1_300);
      expect(await room.cpuWithin(1_000)).toBeLessThan(150);
      expect(
        await room.say(
          '<p id="o"></p><script>requestAnimationFrame(() => setTimeout(() => { o.textContent = "alive"; window.ok = true }))</script>',
          { expression: 'window.ok === true' },
        ),
      ).toBe('alive');
    });
  },
);
