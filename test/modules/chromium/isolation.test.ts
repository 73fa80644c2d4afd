import { createSocket } from 'node:dgram';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Isolation } from '../../../modules/chromium/settings.ts';
import { html, type Page, Room, Site } from './room.ts';

/** A page that says all it finds of another that was in its lane before it. */
const LOOK = `<p id="o"></p><script type="module">
  const found = {};
  const look = async (what, how) => {
    try { const value = await how(); if (value) found[what] = value; } catch {}
  };
  await look('cookie', () => document.cookie);
  await look('local', () => localStorage.getItem('mark'));
  await look('session', () => sessionStorage.getItem('mark'));
  await look('indexed', async () => (await indexedDB.databases()).map(d => d.name).join());
  await look('caches', async () => (await caches.keys()).join());
  await look('files', async () => { for await (const key of (await navigator.storage.getDirectory()).keys()) return key; });
  await look('worker', async () => (await navigator.serviceWorker.getRegistrations()).length);
  await look('name', () => window.name);
  // The empty page that a lane waits on is the first of every history.
  await look('history', () => history.length > 2 && history.length);
  await look('state', () => JSON.stringify(history.state) !== 'null' && history.state);
  await look('opener', () => window.opener && 'opener');
  await look('locks', async () => (await navigator.locks.query()).held.length);
  o.textContent = 'found ' + JSON.stringify(found);
  window.done = true;
</script>`;

/** A page that leaves a mark wherever it can. */
const MARK = `<p>marked</p><script type="module">
  const attempt = async how => { try { await how(); } catch {} };
  await attempt(() => { document.cookie = 'mark=own; path=/; max-age=9999'; });
  await attempt(() => { document.cookie = 'mark=wide; domain=localhost; path=/; max-age=9999'; });
  await attempt(() => localStorage.setItem('mark', 'local'));
  await attempt(() => sessionStorage.setItem('mark', 'session'));
  await attempt(() => new Promise(r => { indexedDB.open('mark').onsuccess = r; }));
  await attempt(() => caches.open('mark'));
  await attempt(async () => (await navigator.storage.getDirectory()).getFileHandle('mark', { create: true }));
  await attempt(() => navigator.serviceWorker.register('sw.js'));
  await attempt(() => { window.name = 'mark'; });
  await attempt(() => { for (let n = 0; n < 5; n++) history.pushState({ mark: n }, '', '?' + n); });
  attempt(() => navigator.locks.request('mark', () => new Promise(() => {})));
  window.done = true;
</script>`;

const DONE = { expression: 'window.done === true' };
const marks: Page = { 'index.html': html(MARK), 'sw.js': 'self.addEventListener("fetch", () => {})' };

let site: Site;
beforeAll(async () => {
  let served = 0;
  site = await Site.open({
    '/frame': `<script>
      parent.postMessage(localStorage.getItem('mark') + ' ' + document.cookie, '*');
      localStorage.setItem('mark', 'third'); document.cookie = 'third=party; max-age=9999';
    </script>`,
    '/cached': (_, response: ServerResponse) => {
      served += 1;
      response.writeHead(200, {
        'content-type': 'text/javascript',
        'cache-control': 'public, max-age=9999, immutable',
        'access-control-allow-origin': '*',
      });
      response.end(`window.served = ${served}`);
    },
    '/poll': 'polled',
  });
});
afterAll(() => site[Symbol.asyncDispose]());

describe.each<Isolation>(['origin', 'process'])('with isolation %s, in the same lane', isolation => {
  let room: Room;
  beforeAll(async () => {
    room = await Room.open({ isolation, forbiddenPorts: [] });
  });
  afterAll(() => room[Symbol.asyncDispose]());

  test('a page finds nothing that the page before it has kept', async () => {
    expect(await room.say(marks, DONE)).toBe('marked');
    expect(await room.say(LOOK, DONE)).toBe('found {}');
    expect(await room.say(marks, DONE)).toBe('marked');
    expect(await room.say(LOOK, DONE)).toBe('found {}');
  });

  test('each page has an origin of its own', async () => {
    const page = '<p id="o"><script>o.textContent = location.host</script>';
    expect(await room.say(page)).not.toBe(await room.say(page));
  });

  test('a frame of a third party finds nothing that it has kept', async () => {
    const page = `<p id="o"></p><script>addEventListener('message', e => { o.textContent = 'third: ' + e.data + '.'; window.done = true })</script>
      <iframe src="${site.url('/frame')}"></iframe>`;
    expect(await room.say(page, DONE)).toContain('third: null .');
    expect(await room.say(page, DONE)).toContain('third: null .');
  });

  test('what a third party lets be cached is fetched again', async () => {
    const page = `<p id="o"></p><script src="${site.url('/cached')}"></script><script>o.textContent = 'served ' + window.served</script>`;
    const [first, second] = [await room.say(page), await room.say(page)];
    expect(first).toMatch(/^served \d+$/);
    expect(second).not.toBe(first);
  });

  test('nothing goes on fetching once its page has been printed', async () => {
    const url = site.url('/poll');
    const fetching = `<script>
      const url = '${url}';
      setInterval(() => fetch(url + '?timer', { mode: 'no-cors' }), 5);
      const frame = () => { new Image().src = url + '?frame' + Math.random(); requestAnimationFrame(frame) };
      addEventListener('load', () => setTimeout(frame)); // pictures before it would delay it for ever
      const code = "setInterval(() => fetch('" + url + "?worker', { mode: 'no-cors' }), 5)";
      new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
      const shared = new SharedWorker('data:text/javascript,' + encodeURIComponent(code.replace('worker', 'shared')));
      const w = open('about:blank'); if (w) w.setInterval(() => w.fetch(url + '?popup'), 5);
      addEventListener('pagehide', () => navigator.sendBeacon(url + '?beacon'));
      addEventListener('unload', () => fetch(url + '?unload', { keepalive: true }));
    </script>fetching`;
    expect(await room.say(fetching, { delayMs: 300 })).toBe('fetching');
    const asked = site.asked.length;
    expect(site.asked).toContain('/poll?timer');
    expect(await room.say('<p>quiet</p>', { delayMs: 300 })).toBe('quiet');
    expect(site.asked.slice(asked)).toEqual([]);
  });

  test('a page after a busy one is fully alive', async () => {
    expect(
      await room.say(
        '<script>setInterval(() => { for (const t = Date.now(); Date.now() - t < 40;); }, 0)</script>busy',
      ),
    ).toBe('busy');
    const page = `<div id="box" style="height:10px"></div><p id="o"></p><script>
      const seen = new Set(); const see = what => { seen.add(what); o.textContent = document.visibilityState + ' ' + document.hasFocus() + ' ' + [...seen].sort().join(' '); window.done = seen.size === 4 };
      requestAnimationFrame(() => see('frames')); setTimeout(() => see('timers'), 20);
      new ResizeObserver(() => see('sizes')).observe(box); new IntersectionObserver(() => see('sights')).observe(box);
    </script>`;
    expect(await room.say(page, DONE)).toBe('visible true frames sights sizes timers');
  });

  test('scripts that handle the end of their page don’t keep the lane', async () => {
    const stubborn = `<script>
      for (const event of ['beforeunload', 'unload', 'pagehide', 'visibilitychange'])
        addEventListener(event, e => { e.preventDefault(); e.returnValue = 'no'; for (const t = Date.now(); Date.now() - t < 300;); });
    </script>stubborn`;
    expect(await room.say(stubborn)).toBe('stubborn');
    expect(await room.say('after it')).toBe('after it');
  });

  test('UDP can’t get past the door', async () => {
    const socket = createSocket('udp4');
    const heard: string[] = [];
    socket.on('message', message => heard.push(message.toString('hex')));
    await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve));
    const { port } = socket.address();
    const page = `<p id="o">none</p><script>
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }, { urls: 'stun:localhost:${port}' }, { urls: 'turn:127.0.0.1:${port}?transport=tcp', username: 'a', credential: 'b' }] });
      peer.createDataChannel('x'); peer.onicecandidate = e => { o.textContent += e.candidate ? ' ' + e.candidate.candidate : ' end'; };
      peer.onicegatheringstatechange = () => { window.done = peer.iceGatheringState === 'complete' };
      peer.createOffer().then(offer => peer.setLocalDescription(offer));
    </script>`;
    expect(await room.say(page, { delayMs: 1_500 })).toContain('none');
    socket.close();
    expect(heard).toEqual([]);
  });
});

test.each<[Isolation, number]>([
  ['origin', 1],
  ['process', 3],
])('with isolation %s, three pages in a lane have %i renderer processes', async (isolation, processes) => {
  await using room = await Room.open({ isolation });
  const seen = new Set<number | undefined>();
  for (const page of ['<p>x', '<script>window.x = 1</script>', '<p>x']) {
    const { clean } = await room.printed(page);
    seen.add((await room.renderers()).at(-1));
    await clean;
  }
  expect(seen.size).toBe(processes);
});

describe('with isolation none', () => {
  test('pages share an origin and what it keeps, as its name says', async () => {
    await using room = await Room.open({ isolation: 'none' });
    await room.say(marks, DONE);
    const said = await room.say(LOOK, DONE);
    expect(said).toContain('"local":"local"');
    expect(said).toContain('mark=own');
  });
});
