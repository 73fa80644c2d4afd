import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchThrough, heard, lane, saying } from './lane.ts';

const HOST = '5f0c2b7e.localhost';
const LARGE = 700_000;
const CONTENT: Record<string, string | Buffer> = {
  'index.html': '<meta charset="utf-8"><p>Grüße</p>',
  'unlabelled.html': '<p>Grüße</p>',
  'legacy.html': Buffer.from('<p>Grüße</p>', 'latin1'),
  'declared.html':
    '<head><META name="x"><meta http-equiv="Content-Type" content="text/html; charset=windows-1252"></head>Grüße',
  'late.html': `<head>${' '.repeat(3000)}<meta charset='iso-8859-1'>Grüße`,
  'large.html': `<p>${'ü'.repeat(LARGE / 2)}`,
  'odd.html': `a<p>${'ü'.repeat(LARGE / 2)}`,
  'img/a b.png': 'png',
  '100%.png': 'percent',
  'ünï.css': 'p {}',
  'video.mp4': Buffer.from(Array.from({ length: LARGE }, (_, at) => at % 251)),
  'small.mp4': '0123456789',
  'empty.css': '',
  noname: 'anything',
};

let folder: string;
let at: Awaited<ReturnType<typeof lane>>;
let asked: string[];
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platen-site-'));
  stack.defer(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'img'));
  for (const [name, content] of Object.entries(CONTENT)) await writeFile(join(folder, name), content);
  // Whatever the rules are, a page reads the files that were sent with it.
  at = stack.use(
    await lane({ rules: { allowList: [/^https:/], denyList: [/./], denyPrivateIps: true, denyPublicIps: true } }),
  );
  asked = [];
});
afterAll(() => stack.disposeAsync());

async function get(path: string, options: Parameters<typeof fetchThrough>[2] = {}) {
  const find = (name: string) => {
    asked.push(name);
    return name.startsWith('missing') ? undefined : join(folder, name);
  };
  const passage = at.admit({ site: { host: HOST, find } });
  try {
    const answer = await fetchThrough(at.door, `http://${HOST}${path}`, options);
    expect(passage.wentOutside).toBe(false);
    return { ...answer, outcome: passage.outcome(`http://${HOST}${path}`) };
  } finally {
    passage.close();
  }
}

describe('the files of a request', () => {
  test.each([
    ['/index.html', 'index.html'],
    ['/index.html?v=1', 'index.html'],
    ['/img/a%20b.png', 'img/a b.png'],
    ['/img%2Fa%20b.png', 'img/a b.png'],
    ['/100%.png', '100%.png'],
    ['/100%25.png', '100%.png'],
    ['/%C3%BCn%C3%AF.css', 'ünï.css'],
    ['/img/../index.html', 'index.html'],
    ['/img/%2e%2e/noname', 'noname'],
  ])('%s is the file %s', async (path, name) => {
    const { status, body, headers, outcome } = await get(path);
    expect({ status, body }).toEqual({ status: 200, body: CONTENT[name] });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-length': String(Buffer.byteLength(body)) });
    expect(outcome).toEqual({ kind: 'answered', status: 200, statusText: 'OK' });
  });

  test('that are large arrive whole', async () => {
    const { body, headers } = await get('/large.html');
    expect(body).toBe(CONTENT['large.html']);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
  });

  test('that are empty are served as such', async () => {
    expect(await get('/empty.css')).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
  });

  test('that are missing are named', async () => {
    const missing = await get('/missing/gr%C3%BCn.png');
    expect(missing).toMatchObject({ status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    expect(missing.body).toBe("There is no file 'missing/grün.png' among those that were sent with this request.");
    expect(missing.outcome).toEqual({ kind: 'answered', status: 404, statusText: 'Not Found' });
    expect(await get('/img')).toMatchObject({ status: 404 });
    expect(await get('/index.html/more')).toMatchObject({ status: 404 });
    expect(await get(`/${'x'.repeat(5000)}`)).toMatchObject({ status: 404 });
  });

  test.each(['/..%2f..%2fetc/passwd', '/img/..%2F..%2Fetc%2Fpasswd', '//etc/passwd', '/%2Fetc%2Fpasswd', '/a%00b'])(
    '%s leads to nothing, and the finder is not even asked',
    async path => {
      asked.length = 0;
      expect(await get(path)).toMatchObject({ status: 404 });
      expect(asked).toEqual([]);
    },
  );

  test('can be asked about, and only read', async () => {
    expect(await get('/index.html', { method: 'HEAD' })).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': '36' },
    });
    expect(await get('/video.mp4', { method: 'HEAD' })).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': String(LARGE) },
    });
    expect(await get('/missing', { method: 'HEAD' })).toMatchObject({ status: 404, body: '' });
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await get('/index.html', { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  test('several come over one connection', async () => {
    const passage = at.admit({ site: { host: HOST, find: name => join(folder, name) } });
    const client = await saying(at.door, `GET http://${HOST}/noname HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await heard(client, 'anything');
    client.write(`GET http://${HOST}/small.mp4 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await heard(client, '0123456789');
    passage.close();
  });

  test('are at one host and port only', async () => {
    const passage = at.admit({ site: { host: HOST, find: () => join(folder, 'noname') } });
    for (const host of [`${HOST}:8080`, `a.${HOST}`, 'localhost'])
      expect(await fetchThrough(at.door, `http://${host}/noname`)).toMatchObject({ status: 403 });
    expect(passage.wentOutside).toBe(true);
    passage.close();
  });
});

describe('the type of a file', () => {
  test.each([
    ['/img/a%20b.png', 'image/png'],
    ['/%C3%BCn%C3%AF.css', 'text/css'],
    ['/video.mp4', 'video/mp4'],
    ['/noname', undefined],
    // Declared by the page, in whatever way: the page's word counts.
    ['/index.html', 'text/html'],
    ['/declared.html', 'text/html'],
    ['/late.html', 'text/html'],
    ['/legacy.html', 'text/html'],
    // Not declared, and UTF-8: browsers would take it for windows-1252.
    ['/unlabelled.html', 'text/html; charset=utf-8'],
    ['/large.html', 'text/html; charset=utf-8'],
    ['/odd.html', 'text/html; charset=utf-8'],
  ])('of %s is %s', async (path, type) => {
    expect((await get(path)).headers['content-type']).toBe(type);
  });
});

describe('a part of a file', () => {
  test.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=5-3', 200, '0123456789', undefined],
    ['bytes=0-1,4-5', 200, '0123456789', undefined],
    ['lines=1-2', 200, '0123456789', undefined],
    ['bytes=-', 200, '0123456789', undefined],
  ])('%s is answered %s', async (range, status, body, contentRange) => {
    const answer = await get('/small.mp4', { headers: { range } });
    expect(answer).toMatchObject({ status, body });
    expect(answer.headers['content-range']).toBe(contentRange);
    expect(answer.headers['content-length']).toBe(String(body.length));
  });

  test('of a large file is read from where it begins', async () => {
    const answer = await get('/video.mp4', { headers: { range: 'bytes=500000-500003' } });
    expect(answer).toMatchObject({ status: 206, headers: { 'content-length': '4', 'content-type': 'video/mp4' } });
    expect(Buffer.from(answer.body, 'utf8').toString('utf8')).toBe(
      (CONTENT['video.mp4'] as Buffer).subarray(500000, 500004).toString('utf8'),
    );
  });
});
