import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pagesOf } from '../helpers/pdf.ts';
import { childrenOf } from '../helpers/processes.ts';
import { Service } from '../helpers/service.ts';
import { within } from '../helpers/within.ts';

const HTML = '/forms/chromium/convert/html';
const OFFICE = '/forms/libreoffice/convert';

let service: Service;

beforeAll(async () => {
  service = await Service.start({
    CHROMIUM_AUTO_START: 'true',
    LIBREOFFICE_AUTO_START: 'true',
    PDFENGINES_AUTO_START: 'true',
    API_TIMEOUT: '8s',
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const page = (body: string) => ['files', 'index.html', `<!doctype html>${body}`] as const;
const slow = (name: string) => service.post(HTML, [page(`<p>${name}`), ['waitDelay', '600ms']]);
const memo = (name: string) => service.post(OFFICE, [['files', `${name}.rtf`, `{\\rtf1 ${name}}`]]);

describe('faults of engines', () => {
  test.each(['SIGKILL', 'SIGSTOP'] as const)('%s of the browser: its pages are printed all the same', async signal => {
    const [browser] = await children(/headless-shell.*--remote-debugging-pipe/);
    const answers = [1, 2, 3].map(n => slow(`page ${signal} ${n}`));
    await service.post(HTML, [page('<p>all others are on their way')]);
    process.kill(browser as number, signal);
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(200);
      expect(await pagesOf(new Uint8Array(await answer.arrayBuffer()))).toBe(1);
    }
  });

  test.each([
    ['soffice', /soffice\.bin/],
    ['its bridge', /bridge\.py/],
  ])('the death of %s: its document is converted all the same', async (_, what) => {
    const victims = await children(what);
    const answers = [1, 2, 3, 4].map(n => memo(`letter-${n}`));
    for (const pid of victims) process.kill(pid, 'SIGKILL');
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
  });

  test('a frozen soffice is found, and its document is converted all the same', async () => {
    for (const pid of await children(/soffice\.bin/)) process.kill(pid, 'SIGSTOP');
    expect((await memo('cold')).status).toBe(200);
  });

  test('the death of a PDF worker costs nobody anything', async () => {
    for (const pid of await children(/worker\.py/)) process.kill(pid, 'SIGKILL');
    const two = [1, 2].map(n => ['files', `${n}.pdf`, readFileSync(LETTER)] as const);
    expect((await service.post('/forms/pdfengines/merge', two)).status).toBe(200);
  });
});

describe('work that never ends', () => {
  test('a page that hangs is answered 503 at its deadline, and its neighbours are served meanwhile', async () => {
    const began = performance.now();
    const hanging = service.post(HTML, [page('<script>while (true) {}</script>')]);
    const neighbours = await Promise.all([1, 2, 3].map(n => service.post(HTML, [page(`<p>${n}`)])));
    expect(neighbours.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(performance.now() - began).toBeLessThan(7000);
    const answer = await hanging;
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBeTruthy();
    expect(await answer.text()).toContain('exceeded the time limit');
    expect(performance.now() - began).toBeLessThan(9500);
  });

  test('a client that leaves is logged as 499, and leaves no folder behind', async () => {
    const leaving = new AbortController();
    const answer = service.post(HTML, [page('<p>gone'), ['waitDelay', '20s']], {
      signal: leaving.signal,
      headers: { 'Gotenberg-Trace': 'gone-early' },
    });
    await within(5000, 'the request to have a folder', folderAppears());
    leaving.abort();
    await answer.catch(() => {});
    const isAccess = (line: string) => line.includes('gone-early') && line.includes('"access"');
    const line = await within(3000, 'its access line', service.line(isAccess));
    expect(JSON.parse(line)).toMatchObject({ status: 499 });
    await within(3000, 'its folder to go', foldersGone());
  });
});

const LETTER = new URL('../../fixtures/pdf/letter.pdf', import.meta.url).pathname;

async function children(what: RegExp): Promise<number[]> {
  const pids = await childrenOf(service.process.pid ?? 0);
  const found = pids.filter(pid => what.test(commandOf(pid)));
  expect(found).not.toEqual([]);
  return found;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return ''; // it has ended meanwhile
  }
}

const requestFolders = async () => (await service.leftovers()).filter(name => /\/r\d+$/.test(name));

async function folderAppears(): Promise<void> {
  while ((await requestFolders()).length === 0) await new Promise(resolve => setTimeout(resolve, 5));
}

async function foldersGone(): Promise<void> {
  while ((await requestFolders()).length > 0) await new Promise(resolve => setTimeout(resolve, 20));
}
