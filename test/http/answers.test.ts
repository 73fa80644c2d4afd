import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openAnswer, sendAnswer } from '../../src/http/answer.ts';
import { Exchange } from '../../src/http/exchange.ts';
import type { Route } from '../../src/http/route.ts';
import { systemClock } from '../../src/time/clock.ts';
import { form } from '../helpers/service.ts';
import { within } from '../helpers/within.ts';
import { entriesOf } from '../helpers/zip.ts';
import { conversion, makes } from './fake-routes.ts';
import { Kernel, multipart, post } from './kernel.ts';

let kernel: Kernel | undefined;
afterEach(async () => {
  if (!kernel) return;
  expect(await kernel.leftovers()).toEqual([]);
  await kernel[Symbol.asyncDispose]();
  kernel = undefined;
});

async function answerOf(route: Route, headers: Record<string, string> = {}): Promise<Response> {
  kernel = await Kernel.start([route]);
  return fetch(`${kernel.url}/forms/test`, { method: 'POST', body: form([['flag', 'true']]), headers });
}

describe('one file', () => {
  test('is answered as it is, with its type, size and name', async () => {
    const content = Buffer.alloc(300_000, 'pdf');
    const answer = await answerOf(makes({ content, name: 'report.docx.pdf' }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    expect(answer.headers.get('content-length')).toBe('300000');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="report.docx.pdf"');
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
  });

  test('without a name gets one that nobody can guess', async () => {
    const answer = await answerOf(makes({ content: 'x', extension: '.png' }));
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="[0-9a-f-]{36}\.png"$/);
    expect(answer.headers.get('content-type')).toBe('image/png');
    await answer.arrayBuffer();
  });

  test.each([
    ['foo', 'filename="foo.pdf"'],
    ['foo.pdf', 'filename="foo.pdf.pdf"'],
    ['C:\\out\\foo', 'filename="foo.pdf"'],
    ['../../foo', 'filename="foo.pdf"'],
    ['say "hi"', 'filename="say \\"hi\\".pdf"'],
    [
      Buffer.from('Übersicht €').toString('latin1'),
      `filename="Ubersicht _.pdf"; filename*=UTF-8''%C3%9Cbersicht%20%E2%82%AC.pdf`,
    ],
    ['caf\xe9', `filename="cafe.pdf"; filename*=UTF-8''caf%C3%A9.pdf`],
    ['folder/', 'filename="given.pdf"'],
  ])('is named by Gotenberg-Output-Filename: %s', async (wanted, disposition) => {
    const answer = await answerOf(makes({ content: 'x', name: 'given.pdf' }), { 'Gotenberg-Output-Filename': wanted });
    expect(answer.headers.get('content-disposition')).toBe(`attachment; ${disposition}`);
    await answer.arrayBuffer();
  });

  test('that is empty is still an answer', async () => {
    const answer = await answerOf(makes({ content: '' }));
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', '']);
  });
});

describe('several files', () => {
  test('come as a zip in their order, twins told apart, names in any script', async () => {
    const contents = ['b', 'a', 'a again', 'ω', 'a (2)'];
    const names = ['b.pdf', 'a.pdf', 'a.pdf', '契約 ω.pdf', 'a (2).pdf'];
    const answer = await answerOf(makes(...contents.map((content, i) => ({ content, name: names[i] as string }))));
    expect(answer.headers.get('content-type')).toBe('application/zip');
    expect(answer.headers.get('content-disposition')).toMatch(/filename="[0-9a-f-]{36}\.zip"/);
    const zip = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-length')).toBe(String(zip.length));
    const entries = await entriesOf(zip);
    expect([...entries.keys()]).toEqual(['b.pdf', 'a.pdf', 'a (3).pdf', '契約 ω.pdf', 'a (2).pdf']);
    expect([...entries.values()].map(String)).toEqual(contents);
  });

  test('are named by Gotenberg-Output-Filename as one', async () => {
    const answer = await answerOf(makes({ content: '1' }, { content: '2' }), { 'Gotenberg-Output-Filename': 'foo' });
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="foo.zip"');
    await answer.arrayBuffer();
  });

  test('may have names that a zip can not hold', async () => {
    const files = ['a:b.pdf', '..', 'c\\d.pdf'].map(name => ({ content: name, name }));
    const answer = await answerOf(makes(...files));
    expect([...(await entriesOf(Buffer.from(await answer.arrayBuffer()))).keys()]).toEqual(['a_b.pdf', '2', 'c_d.pdf']);
  });

  test('may be a thousand', async () => {
    const files = Array.from({ length: 1000 }, (_, i) => ({
      content: `${i}`,
      name: `${'long name '.repeat(8)}${i}.pdf`,
    }));
    const answer = await answerOf(makes(...files));
    const entries = await entriesOf(Buffer.from(await answer.arrayBuffer()));
    expect([...entries.values()].map(String)).toEqual(files.map(file => file.content));
  });
});

describe('a download', () => {
  const large = makes({ content: Buffer.alloc(32 * 1024 * 1024) });

  test('goes on for longer than the time limit, which ends with the first byte', async () => {
    kernel = await Kernel.start([large], { timeout: 300 });
    const response = await fetch(`${kernel.url}/forms/test`, { method: 'POST', body: form([['flag', 'true']]) });
    await new Promise(resolve => setTimeout(resolve, 500));
    expect((await response.arrayBuffer()).byteLength).toBe(32 * 1024 * 1024);
  });

  test('that its client does not take is given up, and its folder removed', async () => {
    kernel = await Kernel.start([large], {}, { stallMs: 200 });
    const socket = kernel.connect().pause();
    const closed = new Promise(resolve => socket.on('error', () => {}).once('close', resolve));
    socket.write(post('/forms/test', multipart([['name="flag"', 'true']]), ['Gotenberg-Trace: stalled']));
    expect(await kernel.line('stalled')).toMatchObject({ status: 499, code: 'CLIENT_GONE' });
    socket.resume();
    await within(5_000, 'the connection to end', closed);
  });

  test('that breaks off on our side is an error of ours, not a client that has gone', async () => {
    const broken = conversion(async request => {
      const { mkdir } = await import('node:fs/promises');
      const file = request.work.next('.pdf');
      await mkdir(file);
      return [{ file }];
    });
    kernel = await Kernel.start([broken]);
    await fetch(`${kernel.url}/forms/test`, {
      method: 'POST',
      body: form([['flag', 'true']]),
      headers: { 'Gotenberg-Trace': 'broken' },
    }).then(
      response => response.arrayBuffer().catch(() => {}),
      () => {},
    );
    expect(await kernel.line('broken')).toMatchObject({ status: 500, level: 'error', code: 'INTERNAL' });
  });

  test('of an output that is not there is a 500', async () => {
    const answer = await answerOf(
      conversion(async request => {
        const file = request.work.next('.pdf');
        await rm(file, { force: true });
        return [{ file }];
      }),
    );
    expect([answer.status, await answer.text()]).toEqual([500, 'Internal Server Error']);
  });
});

test('an answer whose client went before it began closes its file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'answer-test-'));
  const file = join(folder, 'a.pdf');
  await writeFile(file, 'x');
  const incoming = new IncomingMessage(new Socket());
  const outgoing = new ServerResponse(incoming);
  const exchange = new Exchange({ id: 'x', incoming, outgoing, clock: systemClock, awaitsContinue: false });
  outgoing.destroy();
  for (const outputs of [[{ file }], [{ file }, { file }]]) {
    const answer = await openAnswer(outputs, undefined);
    const closed = new Promise(resolve => answer.body.once('close', resolve));
    await expect(sendAnswer(answer, exchange, 1000)).rejects.toThrow();
    await within(2_000, 'the file to be closed', closed);
  }
  await rm(folder, { recursive: true });
});
