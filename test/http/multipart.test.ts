import { readdir, readFile, watch, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Upload } from '../../src/http/fields.ts';
import { receiveForm } from '../../src/http/multipart.ts';
import type { Route } from '../../src/http/route.ts';
import type { Workspace } from '../../src/work/workspace.ts';
import { within } from '../helpers/within.ts';
import { conversion, makes } from './fake-routes.ts';
import { Kernel, multipart, post, textOf } from './kernel.ts';

let kernel: Kernel;
let received: (Upload & { content: string })[] = [];

const taking: Route = conversion(async (request, files) => {
  received = await Promise.all(files.map(async file => ({ ...file, content: await readFile(file.file, 'latin1') })));
  const file = request.work.next('.txt');
  await writeFile(file, 'done');
  return [{ file, name: 'done.txt' }];
});

beforeEach(async () => {
  received = [];
  kernel = await Kernel.start([taking], { bodyLimit: 100_000 });
});
afterEach(async () => {
  expect(await kernel.leftovers()).toEqual([]);
  await kernel[Symbol.asyncDispose]();
});

const send = (parts: Parameters<typeof multipart>[0]) => kernel.raw(post('/forms/test', multipart(parts)));
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

describe('file names', () => {
  test('of any script arrive as they were sent: as UTF-8, as Latin-1, and by RFC 2231', async () => {
    await send([
      [`name="files"; filename="${utf8('契約書 – Ω.pdf')}"`, '1'],
      [`name="files"; filename="caf\xe9.pdf"`, '2'],
      [`name="files"; filename="fallback.pdf"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.pdf`, '3'],
      [`name="files"; filename*=iso-8859-1'en'%A3.pdf`, '4'],
      [`name="${utf8('フィールド')}"; filename="a \\"b\\".pdf"`, '5'],
    ]);
    expect(received.map(file => file.name)).toEqual([
      '契約書 – Ω.pdf',
      'café.pdf',
      'naïve €.pdf',
      '£.pdf',
      'a "b".pdf',
    ]);
    expect(received.map(file => file.content)).toEqual(['1', '2', '3', '4', '5']);
    expect(received[4]?.field).toBe('フィールド');
  });

  test('keep folders for serving, but lead nowhere else', async () => {
    await send([
      ['name="files"; filename="img/icons/a.png"', ''],
      ['name="files"; filename="../../etc/passwd"', ''],
      ['name="files"; filename="/etc/shadow.pdf"', ''],
      ['name="files"; filename="C:\\Users\\me\\b.pdf"', ''],
      ['name="files"; filename="./x/./y/../z.css"', ''],
    ]);
    expect(received.map(({ name, path }) => [name, path])).toEqual([
      ['a.png', 'img/icons/a.png'],
      ['passwd', 'etc/passwd'],
      ['shadow.pdf', 'etc/shadow.pdf'],
      ['b.pdf', 'C:/Users/me/b.pdf'],
      ['z.css', 'x/y/z.css'],
    ]);
    for (const { file } of received) expect(file).toMatch(/\/r\d+\/\d+(\.\w+)?$/);
  });

  test('come composed (NFC), so that the name in a page finds the file of a Mac', async () => {
    await send([[`name="files"; filename="${utf8('u\u0308ber.pdf')}"`, '']]);
    expect(received[0]?.name).toBe('über.pdf');
  });

  test('that are empty make a value of the part; two files of one name are both kept', async () => {
    await send([
      ['name="flag"; filename=""', 'true'],
      ['name="files"; filename="a.pdf"', 'first'],
      ['name="files"; filename="a.pdf"', 'second'],
      ['filename="nameless.pdf"', 'dropped'],
    ]);
    expect(received.map(({ name, content }) => [name, content])).toEqual([
      ['a.pdf', 'first'],
      ['a.pdf', 'second'],
    ]);
  });

  test('of 300 bytes and more are no trouble', async () => {
    const name = `${'长'.repeat(120)}.pdf`;
    await send([[`name="files"; filename="${utf8(name)}"`, 'x']]);
    expect(received.map(file => file.name)).toEqual([name]);
  });
});

test('a binary part without file name is a value, however it calls itself', async () => {
  const octets = 'name="flag"\r\nContent-Type: application/octet-stream';
  expect(await send([[octets, 'maybe']])).toContain(
    `form field 'flag' is invalid (got 'maybe', resulting to strconv.ParseBool: parsing "maybe": invalid syntax)`,
  );
});

test('of a value in several parts the first counts, whatever type they have', async () => {
  const octets = 'name="flag"\r\nContent-Type: application/octet-stream';
  expect(
    await send([
      [octets, 'true'],
      ['name="flag"', 'nonsense'],
    ]),
  ).toMatch(/^HTTP\/1.1 200/);
});

describe('a body that is no form', () => {
  const malformed =
    /^HTTP\/1.1 400[\s\S]*\r\n\r\nMalformed body: it does not match the 'Content-Type' header boundaries$/;

  test('is told from one of another type', async () => {
    for (const type of ['application/json', 'multipart/mixed; boundary=b', 'application/x-www-form-urlencoded', '']) {
      const answer = await kernel.raw(
        `POST /forms/test HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${type && `Content-Type: ${type}\r\n`}Content-Length: 0\r\n\r\n`,
      );
      expect(answer).toMatch(
        /^HTTP\/1.1 415[\s\S]*\r\n\r\nInvalid 'Content-Type' header value: want 'multipart\/form-data'$/,
      );
    }
  });

  test('without a boundary says so', async () => {
    const answer = await kernel.raw(
      'POST /forms/test HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data\r\nContent-Length: 0\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 415[\s\S]*\r\n\r\nInvalid 'Content-Type' header value: no boundary$/);
  });

  test.each([
    ['empty', ''],
    ['of another boundary', multipart([['name="files"; filename="a.pdf"', 'x']], 'other')],
    ['without its end', '--b\r\nContent-Disposition: form-data; name="files"; filename="a.pdf"\r\n\r\nhalf a file'],
    ['that ends in a header', '--b\r\nContent-Disposition: form-da'],
    ['with a broken header', '--b\r\nContent-Disp\x01sition: x\r\n\r\nx\r\n--b--\r\n'],
  ])('%s is malformed', async (_, body) => {
    expect(await kernel.raw(post('/forms/test', body))).toMatch(malformed);
  });

  test('cut off by its client leaves nothing, and the log says that the client has gone', async () => {
    const socket = kernel.connect();
    const head = post('/forms/test', '', ['Gotenberg-Trace: cut']).toString().replace('Length: 0', 'Length: 5000');
    socket.write(
      `${head}--b\r\nContent-Disposition: form-data; name="files"; filename="a.pdf"\r\n\r\n${'x'.repeat(1000)}`,
    );
    await folderOf(kernel);
    socket.destroy();
    expect(await kernel.line('cut')).toMatchObject({ status: 499, level: 'info', code: 'CLIENT_GONE' });
  });
});

describe('limits', () => {
  const tooLarge =
    /^HTTP\/1.1 413[\s\S]*The request body exceeds the configured size limit. Increase it with --api-body-limit, or send a smaller request.$/;

  test('the body limit counts the content of files and values, not what is around them', async () => {
    const fits = await send([
      ['name="files"; filename="a.bin"', 'x'.repeat(99_990)],
      ['name="secret"', '1234'],
    ]);
    expect(fits).toMatch(/^HTTP\/1.1 200/);
    const beyond = await send([
      ['name="files"; filename="a.bin"', 'x'.repeat(99_990)],
      ['name="secret"', '12345'],
    ]);
    expect(beyond).toMatch(tooLarge);
  });

  test('a body that says it is too large is refused before any of it is read', async () => {
    const socket = kernel.connect();
    const answer = textOf(socket);
    const head = post('/forms/test', '', ['Expect: 100-continue']).toString().replace('Length: 0', 'Length: 99999999');
    socket.write(head);
    expect(await answer).toMatch(tooLarge);
    expect(await answer).not.toContain('100 Continue');
  });

  test('a body that is too large is refused while it is still coming', async () => {
    const socket = kernel.connect();
    const answer = textOf(socket);
    const head = post('/forms/test', '', []).toString().replace('Content-Length: 0', 'Transfer-Encoding: chunked');
    const start = '--b\r\nContent-Disposition: form-data; name="files"; filename="a.bin"\r\n\r\n';
    socket.write(`${head}${start.length.toString(16)}\r\n${start}\r\n`);
    const first = new Promise<string>(resolve => socket.once('data', data => resolve(String(data))));
    for (let sent = 0; sent < 3; sent += 1) socket.write(`c350\r\n${'x'.repeat(50_000)}\r\n`);
    expect(await first).toMatch(/^HTTP\/1.1 413/);
    socket.end();
    expect(await answer).toMatch(tooLarge);
  });

  test('1000 parts are a form, 1001 are not', async () => {
    const parts = (n: number) =>
      Array.from({ length: n }, (_, i) => ['name="files"; filename="a.txt"', String(i)] as const);
    expect(await send(parts(1000))).toMatch(/^HTTP\/1.1 200/);
    expect(received.map(file => file.content)).toEqual(Array.from({ length: 1000 }, (_, i) => String(i)));
    expect(await send(parts(1001))).toMatch(/^HTTP\/1.1 413[\s\S]*more than 1000 parts/);
  });

  test('values beyond 10 MiB are refused, never cut', async () => {
    await using roomy = await Kernel.start([makes({ content: 'x' })]);
    const half = 'v'.repeat(5 * 1024 * 1024);
    const values = (n: number) => multipart(Array.from({ length: n }, () => ['name="secret"', half] as const));
    expect(await roomy.raw(post('/forms/test', values(1)))).toMatch(/^HTTP\/1.1 200/);
    expect(await roomy.raw(post('/forms/test', values(2)))).toMatch(/^HTTP\/1.1 413[\s\S]*exceed 10485760 bytes/);
    const one = multipart([['name="secret"', 'v'.repeat(11 * 1024 * 1024)]]);
    expect(await roomy.raw(post('/forms/test', one))).toMatch(/^HTTP\/1.1 413/);
  });
});

test('a client that asks before it sends is told to go on', async () => {
  const body = multipart([['name="files"; filename="a.txt"', 'x']]);
  const [head] = post('/forms/test', body, ['Expect: 100-continue']).toString().split('\r\n\r\n');
  const socket = kernel.connect();
  const answer = textOf(socket);
  socket.write(`${head}\r\n\r\n`);
  await new Promise(resolve => socket.once('data', resolve));
  socket.write(body);
  expect(await answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
});

test('a value in a character set that nobody knows is a fault, not nothing', async () => {
  const strange = 'name="secret"\r\nContent-Type: text/plain; charset=klingon';
  expect(await send([[strange, 'x']])).toMatch(
    /^HTTP\/1.1 400[\s\S]*'secret' comes in a character set that is not supported/,
  );
});

test('a file that can not be written ends the upload at once, with the reason', async () => {
  const body = multipart([
    ['name="files"; filename="a.txt"', 'x'.repeat(300_000)],
    ['name="files"; filename="b.txt"', 'x'],
  ]);
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const request = Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage;
  const work = { next: () => '/nowhere/at/all' } as unknown as Workspace;
  const received = receiveForm(request, work, { body: 0 }, new AbortController().signal);
  await expect(within(2_000, 'the upload to end', received)).rejects.toThrow('ENOENT');
});

/** Waits until a request has its folder. */
async function folderOf({ temp }: Kernel): Promise<void> {
  const changes = watch(temp.path);
  const next = changes[Symbol.asyncIterator]();
  while (!(await readdir(temp.path)).some(name => name.startsWith('r'))) await next.next();
  await next.return?.();
}
