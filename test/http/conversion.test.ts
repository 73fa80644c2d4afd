import { readdir, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { Failure } from '../../src/failure/failure.ts';
import type { ConversionRequest, Route } from '../../src/http/route.ts';
import type { ApiSettings } from '../../src/settings/kernel-settings.ts';
import { type FormPart, form } from '../helpers/service.ts';
import { within } from '../helpers/within.ts';
import { conversion, makes } from './fake-routes.ts';
import { Kernel, multipart, post, textOf } from './kernel.ts';

let kernel: Kernel;
afterEach(async () => {
  expect(await kernel.leftovers()).toEqual([]);
  await kernel[Symbol.asyncDispose]();
});

const start = async (route: Route, settings: Partial<ApiSettings> = {}) => {
  kernel = await Kernel.start([route], settings);
};
const send = (parts: readonly FormPart[] = [['flag', 'true']], headers: Record<string, string> = {}) =>
  fetch(`${kernel.url}/forms/test`, {
    method: 'POST',
    body: form(parts),
    headers: { 'Gotenberg-Trace': 'it', ...headers },
  });

/** Settles, by rejecting, as soon as the signal aborts. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('a request', () => {
  test('is told what it needs: its signal, its deadline, its folder, its name', async () => {
    let seen: ConversionRequest | undefined;
    await start(
      conversion(async request => {
        seen = request;
        request.run.trace?.({ engine: 'fake', instance: 'fake-1.1', queueMs: 12.4, runMs: 30, attempts: 1 });
        const file = request.work.next('.pdf');
        await writeFile(file, 'x');
        return [{ file }];
      }),
      { timeout: 7000 },
    );
    expect((await send([['flag', 'true']], { 'Gotenberg-Output-Filename': 'a/b' })).status).toBe(200);
    expect(seen?.outputName).toBe('b');
    expect(seen?.id).toBe('it');
    expect(seen?.run.signal).toBe(seen?.signal);
    const left = (seen?.run.deadline ?? 0) - performance.now();
    expect(left).toBeGreaterThan(3000);
    expect(left).toBeLessThanOrEqual(7000);
    expect(await kernel.line('it')).toMatchObject({ engine: 'fake', queue_ms: 12, engine_ms: 30, attempts: 1 });
  });

  test('has a fingerprint: the same for the same form, another for any other', async () => {
    const prints: (string | undefined)[] = [];
    await start(
      conversion(async request => {
        prints.push(await request.run.fingerprint?.());
        throw new Failure('FORBIDDEN');
      }),
    );
    await send([['files', 'a.txt', 'content']]);
    await send([['files', 'a.txt', 'content']]);
    await send([['files', 'a.txt', 'other']]);
    await send([
      ['flag', '1'],
      ['files', 'a.txt', 'content'],
    ]);
    expect(prints[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(prints[1]).toBe(prints[0]);
    expect(new Set(prints).size).toBe(3);
  });

  test('that fails says so in the words of its failure, and the log has the cause', async () => {
    await start(
      conversion(async () => {
        throw new Failure('QUEUE_FULL', { waiting: 7 }, { cause: new Error('secretly') });
      }),
    );
    const answer = await send();
    expect(answer.status).toBe(429);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=UTF-8');
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await answer.text()).toMatch(/^The request queue is full/);
    expect(await kernel.line('it')).toMatchObject({
      level: 'warn',
      facts: { waiting: 7 },
      err: { message: 'secretly' },
    });
  });

  test("gets problem+json where it asks for that, with a form's problems one by one", async () => {
    await start(makes({ content: 'x' }));
    const answer = await send([['flag', 'x']], { Accept: 'text/html, application/problem+json;q=0.9' });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({
      status: 400,
      code: 'FORM_INVALID',
      requestId: 'it',
      problems: [`form field 'flag' is invalid (got 'x', resulting to strconv.ParseBool: parsing "x": invalid syntax)`],
    });
    const plain = await send([['flag', 'x']], { Accept: 'application/problem+json;q=0, */*' });
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=UTF-8');
    await plain.text();
  });

  test('that meets a bug gets a bare 500, and the log has the stack', async () => {
    await start(conversion(() => Promise.reject(new TypeError('no such thing'))));
    const answer = await send();
    expect([answer.status, await answer.text()]).toEqual([500, 'Internal Server Error']);
    expect(await kernel.line('it')).toMatchObject({
      level: 'error',
      err: { type: 'TypeError', stack: expect.any(String) },
    });
  });

  test('on a full disk is told to come back', async () => {
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
    await start(conversion(() => Promise.reject(new Error('could not save', { cause: full }))));
    const answer = await send();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await answer.text()).toMatch(/temporary folder of the service is full/);
  });

  test('is never logged with the value of a secret', async () => {
    await start(makes({ content: 'x' }));
    await (
      await send([
        ['secret', 'hunter2'],
        ['flag', 'x'],
      ])
    ).text();
    await kernel.line('it');
    expect(JSON.stringify(kernel.lines)).not.toContain('hunter2');
  });
});

describe('what is planned', () => {
  test('is refused by name: a webhook header, a download', async () => {
    await start(makes({ content: 'x' }));
    const webhook = await send([['flag', 'true']], { 'Gotenberg-Webhook-Url': 'http://localhost/hook' });
    expect([webhook.status, await webhook.text()]).toEqual([
      400,
      "The header 'gotenberg-webhook-url' is not supported by this version of Platen yet; leave it out.",
    ]);
    const download = await send([['downloadFrom', '[{"url":"http://localhost/a.pdf"}]']]);
    expect(await download.text()).toContain(`form field 'downloadFrom' is not supported`);
  });

  test('is passed over where the operator has switched it off', async () => {
    kernel = await Kernel.start([makes({ content: 'x' })], { disableDownloadFrom: true }, { webhookDisabled: true });
    const answer = await send([['downloadFrom', '[{"url":"x"}]']], {
      'Gotenberg-Webhook-Url': 'http://localhost/hook',
    });
    expect(answer.status).toBe(200);
    await answer.text();
  });
});

describe('the time limit', () => {
  test('answers at once, though the work goes on; the folder stays until it has ended', async () => {
    const work = Promise.withResolvers<never>();
    await start(
      conversion(request => {
        void request.work.hold(work.promise.catch(() => {}));
        return untilAborted(request.signal);
      }),
      { timeout: 200 },
    );
    const answer = await within(2_000, 'the answer', send());
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await answer.text()).toMatch(/^The request exceeded the time limit/);
    expect((await readdir(kernel.temp.path)).length).toBe(2);
    expect(kernel.traffic.active).toBeGreaterThan(0);
    work.reject(new Error('ended'));
  });

  test('holds for work that never listens', async () => {
    const work = Promise.withResolvers<never>();
    await start(
      conversion(() => work.promise),
      { timeout: 200 },
    );
    expect((await within(2_000, 'the answer', send())).status).toBe(503);
    work.reject(new Error('ended'));
  });

  test('runs from the headers: an upload that never ends is answered', async () => {
    await start(makes({ content: 'x' }), { timeout: 200 });
    const socket = kernel.connect();
    const head = post('/forms/test', '').toString().replace('Length: 0', 'Length: 9999');
    const answer = textOf(socket);
    socket.write(`${head}--b\r\n`);
    const first = await within(2_000, 'the answer', new Promise(resolve => socket.once('data', resolve)));
    expect(String(first)).toMatch(/^HTTP\/1.1 503/);
    socket.destroy();
    await answer;
  });
});

test('a client that leaves aborts its conversion at once', async () => {
  const begun = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  await start(
    conversion(request => {
      request.signal.addEventListener('abort', () => aborted.resolve(request.signal.reason));
      begun.resolve();
      return untilAborted(request.signal);
    }),
  );
  const socket = kernel.connect().on('error', () => {});
  socket.write(post('/forms/test', multipart([['name="flag"', 'true']]), ['Gotenberg-Trace: it']));
  await begun.promise;
  socket.destroy();
  expect(await within(2_000, 'the abort', aborted.promise)).toMatchObject({ code: 'CLIENT_GONE' });
  expect(await kernel.line('it')).toMatchObject({ status: 499, level: 'info', code: 'CLIENT_GONE' });
});

describe('a shutdown', () => {
  test('refuses what comes, with Retry-After and the end of the connection; what is in finishes', async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    await start(
      conversion(async request => {
        begun.resolve();
        await goOn.promise;
        const file = request.work.next('.pdf');
        await writeFile(file, 'finished');
        return [{ file }];
      }),
    );
    const running = send();
    await begun.promise;
    kernel.traffic.stop();
    const refused = await send();
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([
      503,
      '5',
      'close',
    ]);
    expect(await refused.text()).toBe('The service is stopping. Retry on another instance.');
    goOn.resolve();
    expect(await (await running).text()).toBe('finished');
  });

  test('whose patience is at its end answers what is still in', async () => {
    await start(conversion(request => untilAborted(request.signal)));
    const running = send();
    await within(2_000, 'the request', begunIn(kernel));
    kernel.traffic.stop();
    kernel.traffic.endPatience();
    expect((await running).status).toBe(503);
  });
});

async function begunIn({ traffic }: Kernel): Promise<void> {
  while (traffic.active < 2) await new Promise(resolve => setImmediate(resolve));
}
