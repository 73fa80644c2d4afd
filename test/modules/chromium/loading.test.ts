import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expandStatuses } from '../../../modules/chromium/status-codes.ts';
import { EgressPolicy } from '../../../src/egress/policy.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { imagesOf } from '../../helpers/pdf.ts';
import { freePort } from '../../helpers/service.ts';
import { within } from '../../helpers/within.ts';
import { failure, html, Room, Site } from './room.ts';

let room: Room;
let site: Site;
/** A port that pages may not reach, though somebody listens there. */
let secret: Site;

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="50"><text y="20">drawn</text></svg>';
const redirect = (to: () => string) => (_: unknown, response: import('node:http').ServerResponse) =>
  response.writeHead(302, { location: to() }).end();
const answer =
  (status: number, headers: Record<string, string>, body = '') =>
  (_: unknown, response: import('node:http').ServerResponse) =>
    response.writeHead(status, headers).end(body);

beforeAll(async () => {
  secret = await Site.open({ '/': 'secret' });
  site = await Site.open({
    '/': 'the web',
    '/500': answer(500, { 'content-type': 'text/html' }, html('broken')),
    '/404': answer(404, { 'content-type': 'text/html' }, html('nothing here')),
    '/204': answer(204, {}),
    '/empty': answer(200, { 'content-type': 'text/html', 'content-length': '0' }),
    '/zip': answer(200, { 'content-type': 'application/zip' }, 'PK'),
    '/attached': answer(200, { 'content-type': 'text/html', 'content-disposition': 'attachment' }, html('x')),
    '/svg': answer(200, { 'content-type': 'image/svg+xml' }, SVG),
    '/xml': answer(200, { 'content-type': 'application/xml' }, '<?xml version="1.0"?><a><b>marked up</b></a>'),
    '/text': answer(200, { 'content-type': 'text/plain' }, 'plain words'),
    '/csp': answer(
      200,
      { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'; style-src 'none'" },
      html('<body style="background:red">locked'),
    ),
    '/to-web': redirect(() => '/'),
    '/to-500': redirect(() => '/500'),
    '/to-secret': redirect(() => secret.url('/')),
    '/to-file': redirect(() => 'file:///etc/hostname'),
    '/loop': redirect(() => '/loop'),
    '/script-moves': '<p>first</p><script>location = "/"</script>',
    '/script-moves-to-500': '<p>first</p><script>location = "/500"</script>',
    '/script-moves-to-204': '<p>stays</p><script>location = "/204"</script>',
    '/meta-moves': '<meta http-equiv="refresh" content="0;url=/"><p>first</p>',
    '/moves-for-ever': '<p>first</p><script>location = "/moves-for-ever?" + Math.random()</script>',
    '/meta-later': '<meta http-equiv="refresh" content="60;url=/"><p>first</p>',
    '/cut': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '100' }).write('<p>half');
      setTimeout(() => response.destroy(), 50);
    },
    '/garbage': (_, response) => response.socket?.end('no http\r\n\r\n'),
  });
  room = await Room.open({ lanes: 2, forbiddenPorts: [secret.port] });
});
afterAll(async () => {
  for (const part of [room, site, secret]) await part[Symbol.asyncDispose]();
});

const SOON_MS = 5_000;
const soon = <T>(work: Promise<T>) => within(SOON_MS, 'an answer', work);
const at = (path: string) => ({ url: site.url(path) });

describe('status', () => {
  test('of the page decides, where the client has asked for that', async () => {
    const statuses = { failOnStatus: [...expandStatuses([499, 599])] };
    expect(await failure(room.print(at('/500'), statuses))).toMatchObject({
      code: 'PAGE_STATUS',
      facts: { code: 500, reason: 'Internal Server Error' },
    });
    expect(await failure(room.print(at('/404'), statuses))).toMatchObject({
      code: 'PAGE_STATUS',
      facts: { code: 404 },
    });
    expect(await room.say(at('/'), statuses)).toBe('the web');
  });

  test('is no matter otherwise', async () => {
    expect(await room.say(at('/500'))).toBe('broken');
    expect(await room.say(at('/404'), { failOnStatus: [500] })).toBe('nothing here');
  });

  test('that counts is that of the last address, after redirects', async () => {
    expect(await room.say(at('/to-web'), { failOnStatus: [302] })).toBe('the web');
    expect(await failure(room.print(at('/to-500'), { failOnStatus: [500] }))).toMatchObject({ code: 'PAGE_STATUS' });
  });

  test('of a frame or an asset is not the page’s', async () => {
    const page = `<iframe src="${site.url('/500')}"></iframe><img src="${site.url('/404')}">framed`;
    expect(await room.say(page, { failOnStatus: [404, 500] })).toContain('framed');
  });

  test('lists stand for their hundreds', () => {
    expect(expandStatuses([])).toEqual(new Set());
    expect(expandStatuses([404, 418])).toEqual(new Set([404, 418]));
    const all = expandStatuses([499, 599]);
    expect([all.size, all.has(399), all.has(400), all.has(499), all.has(500), all.has(599)]).toEqual([
      200,
      false,
      true,
      true,
      true,
      true,
    ]);
  });
});

describe('pages that can’t be had', () => {
  test('a refused connection is called that', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    expect(await soon(failure(room.print({ url })))).toMatchObject({
      code: 'PAGE_LOAD_FAILED',
      facts: { error: 'net::ERR_CONNECTION_REFUSED' },
    });
  });

  test('an unknown host too', async () => {
    expect(await soon(failure(room.print({ url: 'http://no-such-host.invalid/' })))).toMatchObject({
      code: 'PAGE_LOAD_FAILED',
      facts: { error: 'net::ERR_NAME_NOT_RESOLVED' },
    });
  });

  test('a redirect to where nobody may go is forbidden, and so is going there at once, or by script', async () => {
    expect(await soon(failure(room.print(at('/to-secret'))))).toMatchObject({ code: 'FORBIDDEN' });
    expect(await soon(failure(room.print({ url: secret.url('/') })))).toMatchObject({ code: 'FORBIDDEN' });
    const page = `<p>here</p><script>location = "${secret.url('/')}"</script>`;
    expect(await soon(failure(room.print(page)))).toMatchObject({ code: 'FORBIDDEN' });
    expect(secret.asked).toEqual([]);
  });

  test('a redirect to a file is no page', async () => {
    expect(await soon(failure(room.print(at('/to-file'))))).toMatchObject({
      code: expect.stringMatching(/FORBIDDEN|PAGE_/),
    });
  });

  test('a circle of redirects ends', async () => {
    expect(await soon(failure(room.print(at('/loop'))))).toMatchObject({
      code: 'PAGE_LOAD_FAILED',
      facts: { error: expect.stringContaining('TOO_MANY_REDIRECTS') },
    });
  });

  test.each(['/204', '/zip', '/attached'])('%s is nothing to print, and that is said at once', async path => {
    expect(await soon(failure(room.print(at(path))))).toMatchObject({ code: 'PAGE_NOT_PRINTABLE' });
  });

  test.each(['/cut', '/garbage'])('%s does not hang', async path => {
    await soon(room.print(at(path)).catch(error => expect(error.code).toBe('PAGE_LOAD_FAILED')));
  });
});

describe('pages that go elsewhere', () => {
  test.each(['/script-moves', '/meta-moves'])('%s is printed where it arrives', async path => {
    expect(await room.say(at(path))).toBe('the web');
  });

  test('where they arrive, the status counts', async () => {
    expect(await failure(room.print(at('/script-moves-to-500'), { failOnStatus: [500] }))).toMatchObject({
      code: 'PAGE_STATUS',
    });
  });

  test('to nothing stay what they are', async () => {
    expect(await room.say(at('/script-moves-to-204'))).toBe('stays');
  });

  test('later than now are printed as they are', async () => {
    expect(await room.say(at('/meta-later'))).toBe('first');
  });

  test('without end are printed, or end at the deadline', async () => {
    const deadline = new AbortController();
    setTimeout(() => deadline.abort(new Error('the deadline')), 3_000);
    await within(
      SOON_MS,
      'an end',
      room
        .print(at('/moves-for-ever'), { signal: deadline.signal })
        .catch(error => expect(error.message).toBe('the deadline')),
    );
    expect(await room.say('next')).toBe('next');
  });

  test('within the files of the form find those', async () => {
    const files = { 'index.html': html('<script>location = "sub/b.html"</script>'), 'sub/b.html': html('second') };
    expect(await room.say(files)).toBe('second');
  });

  test('to a part of themselves, or by history, are where they were', async () => {
    expect(await room.say('<p id="x">anchored</p><script>location.hash = "x"</script>')).toBe('anchored');
    expect(
      await room.say(
        '<p>pushed</p><script>history.pushState(1, "", "/other"); history.replaceState(2, "", "/b")</script>',
      ),
    ).toBe('pushed');
  });
});

describe('documents of all kinds', () => {
  test.each([
    ['/svg', 'drawn'],
    ['/xml', 'marked up'],
    ['/text', 'plain words'],
    ['/csp', 'locked'],
    ['/empty', ''],
  ])('%s is printed', async (path, text) => {
    expect(await room.say(at(path))).toContain(text);
  });
});

describe('assets', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
    'base64',
  );

  test('in folders are found, and by their last name where the folder was not sent', async () => {
    const page = '<link rel="stylesheet" href="css/a.css"><img src="img/deep/dot.png"><img src="/img/flat.png"><p>';
    const files = {
      'index.html': html(page),
      'css/a.css': '@import "more/b.css";',
      'css/more/b.css': 'p::before{content:"styled"}',
      'img/deep/dot.png': PNG,
      'flat.png': PNG,
    };
    expect(await room.say(files)).toBe('styled');
    expect(await imagesOf(await room.print(files))).toBeGreaterThan(0);
  });

  test('with names of all kinds are found', async () => {
    const name = 'Grüße 100% #1?&+.css';
    const page = `<link rel="stylesheet" href="${encodeURIComponent(name)}"><p>`;
    expect(await room.say({ 'index.html': html(page), [name]: 'p::before{content:"named"}' })).toBe('named');
  });

  test('that are missing, refused or slow to fail do no harm', async () => {
    const missing = [
      'none.css',
      secret.url('/s.css'),
      'http://no-such-host.invalid/a.css',
      'https://127.0.0.1:9/a.css',
    ];
    const page = missing.map(
      url => `<link rel="stylesheet" href="${url}"><img src="${url}"><iframe src="${url}"></iframe>`,
    );
    expect(await soon(room.say(`${page.join('')}<p>still printed`))).toContain('still printed');
    expect(secret.asked).toEqual([]);
  });

  test('of this machine can’t be read: no file, no way', async () => {
    const canary = join(room.folder, 'canary.txt');
    await writeFile(canary, 'CANARY');
    const url = `file://${canary}`;
    const page = `<iframe src="${url}"></iframe><embed src="${url}"><object data="${url}"></object><img src="${url}">
      <p id="o">start</p><script type="module">
        const tell = word => { o.textContent += " " + word };
        await fetch("${url}").then(r => r.text()).then(tell, () => tell("refused"));
        await fetch("/../../../../../../${canary}").then(r => tell(r.status));
        await fetch("/%2e%2e/%2e%2e/%2e%2e${canary}").then(r => tell(r.status));
        await fetch("//${canary}").then(r => tell(r.status), () => tell("refused"));
        window.done = true;
      </script>`;
    const said = await room.say(page, { expression: 'window.done === true' });
    expect(said).not.toContain('CANARY');
    expect(said).toContain('start refused 404 404');
  });

  test('of another request’s site can’t be reached', async () => {
    const host = await room.say('<p id="o"><script>o.textContent = location.host</script>');
    expect(host).toMatch(/^[0-9a-f]{32}\.localhost$/);
    expect(await failure(room.print({ url: `http://${host}/index.html` }))).toMatchObject({
      code: expect.stringMatching(/FORBIDDEN|PAGE_LOAD_FAILED/),
    });
  });
});

describe('lists', () => {
  test('judge what is inside https too, by the whole URL', async () => {
    const rules = { allowList: [], denyList: [/denied/], denyPrivateIps: false, denyPublicIps: false };
    await using guarded = await Room.open({
      policy: new EgressPolicy(rules, { clock: systemClock }),
      judgesTunnels: true,
    });
    expect(await soon(failure(guarded.print({ url: 'https://127.0.0.1:9/denied' })))).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(await soon(failure(guarded.print({ url: 'https://127.0.0.1:9/fine' })))).toMatchObject({
      code: 'PAGE_LOAD_FAILED',
    });
    expect(await soon(failure(guarded.print({ url: site.url('/denied') })))).toMatchObject({ code: 'FORBIDDEN' });
    expect(await guarded.say('fine')).toBe('fine');
  });
});

describe('what asks or opens', () => {
  test('dialogs are refused and hold nothing up', async () => {
    const page = `<p id="o"></p><script>
      alert("stop"); const c = confirm("?"); const p = prompt("?");
      addEventListener("beforeunload", e => { e.preventDefault(); e.returnValue = "stay" });
      o.textContent = c + " " + p;
    </script>`;
    expect(await soon(room.say(page))).toBe('false null');
    expect(await soon(room.say('next'))).toBe('next');
  });

  test('printing by the page itself holds nothing up', async () => {
    expect(await soon(room.say('<p>self</p><script>print(); addEventListener("beforeprint", () => {})</script>'))).toBe(
      'self',
    );
  });

  test('windows are not opened', async () => {
    const page = `<p id="o"></p><a id="a" target="_blank" href="${site.url('/popup')}"></a><script>
      const w = open("${site.url('/popup')}"); a.click(); o.textContent = w === null ? "refused" : "opened";
    </script>`;
    expect(await soon(room.say(page, { delayMs: 300 }))).toBe('refused');
    expect(site.asked).not.toContain('/popup');
  });

  test('downloads are refused', async () => {
    const page = `<p>kept</p><script>
      const a = document.createElement("a"); a.href = "${site.url('/zip')}"; a.download = "a.zip"; a.click();
    </script>`;
    expect(await soon(room.say(page, { delayMs: 200 }))).toBe('kept');
  });
});
