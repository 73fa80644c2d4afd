import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { imagesOf, linksOf, pagesOf, sizeOf, textOf } from '../helpers/pdf.ts';
import { Service } from '../helpers/service.ts';

const HTML = '/forms/chromium/convert/html';
let service: Service;

beforeAll(async () => {
  service = await Service.start({ CHROMIUM_AUTO_START: 'true' });
});
afterAll(() => service[Symbol.asyncDispose]());

const page = (body: string) =>
  ['files', 'index.html', `<!doctype html><meta charset="utf-8"><title>t</title>${body}`] as const;

describe('HTML over HTTP', () => {
  test('a page becomes a PDF of US Letter with its text', async () => {
    const response = await service.post(HTML, [page('<h1>Grüße, 世界</h1>')]);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    const pdf = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(pdf.length));
    expect((await textOf(pdf)).replace(/\s+/g, ' ')).toContain('Grüße, 世界');
    expect(await pagesOf(pdf)).toBe(1);
    expect(await sizeOf(pdf)).toEqual({ width: 612, height: 792 });
  });

  test('paper, orientation and page ranges are as asked', async () => {
    const response = await service.post(HTML, [
      page('<p style="break-after:page">one</p><p style="break-after:page">two</p><p>three</p>'),
      ['paperWidth', '210mm'],
      ['paperHeight', '297mm'],
      ['landscape', 'true'],
      ['nativePageRanges', '2-3'],
    ]);
    expect(response.status).toBe(200);
    const pdf = Buffer.from(await response.arrayBuffer());
    expect(await pagesOf(pdf)).toBe(2);
    expect(await textOf(pdf)).not.toContain('one');
    const size = await sizeOf(pdf);
    // Chromium rounds paper to whole pixels, which are 0.75 points.
    expect(Math.abs(size.width - 841.89)).toBeLessThan(0.75);
    expect(Math.abs(size.height - 595.28)).toBeLessThan(0.75);
  });

  test('assets in folders, fetch and modules work, an image is embedded, and a link stays a link', async () => {
    const response = await service.post(HTML, [
      page(
        `<link rel="stylesheet" href="css/style.css"><img src="img/dot.png"><a href="https://example.com/x">link</a>
         <p id="out"></p><script type="module">
           import { word } from './js/word.mjs';
           const data = await (await fetch('data.json')).json();
           document.querySelector('#out').textContent = word + data.answer;
           window.done = true;
         </script>`,
      ),
      ['files', 'css/style.css', 'p::before{content:"styled "}'],
      ['files', 'dot.png', PNG],
      ['files', 'js/word.mjs', 'export const word = "module ";'],
      ['files', 'data.json', '{"answer":42}'],
      ['waitForExpression', 'window.done === true'],
    ]);
    expect(response.status).toBe(200);
    const pdf = Buffer.from(await response.arrayBuffer());
    expect(await textOf(pdf)).toContain('styled module 42');
    expect(await imagesOf(pdf)).toBeGreaterThan(0);
    expect(await linksOf(pdf)).toEqual(['https://example.com/x']);
  });

  test('a name for the answer is used, also with characters beyond ASCII', async () => {
    const response = await service.post(HTML, [page('x')], {
      headers: { 'Gotenberg-Output-Filename': 'report', 'Gotenberg-Trace': 'my-trace' },
    });
    expect(response.headers.get('content-disposition')).toContain('filename="report.pdf"');
    expect(response.headers.get('gotenberg-trace')).toBe('my-trace');
    const line = JSON.parse(await service.line(l => l.includes('my-trace') && l.includes('access')));
    expect(line).toMatchObject({ correlation_id: 'my-trace', method: 'POST', path: HTML, status: 200 });
  });

  test.each<[string, [string, string][], string]>([
    ['no page', [['files', 'x']], "form file 'index.html' is required"],
    ['a wrong number', [['scale', 'big']], "form field 'scale' is invalid (got 'big'"],
    ['a scale beyond the limits', [['scale', '5']], "'scale'"],
    ['a negative margin', [['marginTop', '-1']], "'marginTop'"],
    ['a range the wrong way round', [['nativePageRanges', '3-1']], 'nativePageRanges'],
    ['a page range beyond the end', [['nativePageRanges', '7-9']], 'exceeds the page count'],
    ['a broken expression', [['waitForExpression', 'nope()']], "The expression 'nope()'"],
    ['a field that is still to come', [['pdfa', 'PDF/A-2b']], "'pdfa'"],
  ])('%s is refused with what to do', async (_, fields, text) => {
    const parts = fields[0]?.[0] === 'files' ? [] : [page('x'), ...fields];
    const response = await service.post(HTML, parts);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(text);
  });
});

describe('URLs over HTTP', () => {
  const URL_ROUTE = '/forms/chromium/convert/url';

  test('a web page is printed', async () => {
    const response = await service.post(URL_ROUTE, [['url', `${service.url}/version`]]);
    // The service never lets a page reach the service itself.
    expect(response.status).toBe(403);
  });

  test.each([
    ['http://127.0.0.1:9/', 400, 'net::ERR_'],
    ['http://no-such-host.invalid/', 400, 'net::ERR_NAME_NOT_RESOLVED'],
    ['file:///etc/passwd', 400, 'file:// URLs are not accepted'],
    ['chrome://version', 400, 'Invalid URL'],
    ['example.com', 400, 'Invalid URL'],
  ])('%s is answered %i', async (url, status, text) => {
    const response = await service.post(URL_ROUTE, [['url', url]]);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(text);
  });
});

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
