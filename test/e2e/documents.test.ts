import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pagesOf, textOf } from '../helpers/pdf.ts';
import { Service } from '../helpers/service.ts';
import { entriesOf } from '../helpers/zip.ts';

const OFFICE = '/forms/libreoffice/convert';
const MERGE = '/forms/pdfengines/merge';
const fixture = (path: string) => readFile(join(import.meta.dirname, '../../fixtures', path));

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service[Symbol.asyncDispose]());

describe('Office documents over HTTP', () => {
  test('one document becomes its PDF', async () => {
    const response = await service.post(OFFICE, [['files', 'memo.rtf', '{\\rtf1 Quarterly figures}']]);
    expect(response.status).toBe(200);
    expect(await textOf(await bytesOf(response))).toContain('Quarterly figures');
  });

  test('several come back as a zip, in alphanumeric order, under their own names', async () => {
    const response = await service.post(
      OFFICE,
      [
        ['files', 'page_10.rtf', '{\\rtf1 ten}'],
        ['files', 'page_2.rtf', '{\\rtf1 two}'],
        ['files', 'page_1.rtf', '{\\rtf1 one}'],
      ],
      { headers: { 'Gotenberg-Output-Filename': 'all' } },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/zip');
    expect(response.headers.get('content-disposition')).toContain('all.zip');
    const entries = await entriesOf(await bytesOf(response));
    expect([...entries.keys()]).toEqual(['page_1.rtf.pdf', 'page_2.rtf.pdf', 'page_10.rtf.pdf']);
    expect(await textOf(entries.get('page_2.rtf.pdf') as Buffer)).toContain('two');
  });

  test('two documents of one name are both kept', async () => {
    const response = await service.post(OFFICE, [
      ['files', 'a.txt', 'first'],
      ['files', 'a.txt', 'second'],
    ]);
    const entries = await entriesOf(await bytesOf(response));
    expect([...entries.keys()]).toEqual(['a.txt.pdf', 'a.txt (2).pdf']);
  });

  test('merge=true makes one PDF of them', async () => {
    const response = await service.post(OFFICE, [
      ['files', '2.txt', 'second'],
      ['files', '1.txt', 'first'],
      ['merge', 'true'],
    ]);
    expect(response.status).toBe(200);
    const pdf = await bytesOf(response);
    expect(await pagesOf(pdf)).toBe(2);
    expect((await textOf(pdf)).indexOf('first')).toBeLessThan((await textOf(pdf)).indexOf('second'));
  });

  test.each<[string, string, string | Uint8Array<ArrayBuffer>, string]>([
    ['an empty document', 'empty.docx', '', "'empty.docx' is empty"],
    ['noise with a good name', 'noise.docx', Buffer.alloc(2000, 7), "'noise.docx'"],
    ['a kind that is not accepted', 'virus.exe', 'MZ', 'no form file found for extensions: [.123 .602'],
  ])('%s is refused by name', async (_, name, content, text) => {
    const response = await service.post(OFFICE, [['files', name, content]]);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(text);
  });
});

describe('merging over HTTP', () => {
  test('PDFs are merged in alphanumeric order', async () => {
    const response = await service.post(MERGE, [
      ['files', '10.pdf', await fixture('pdf/letter.pdf')],
      ['files', '9.pdf', await fixture('pdf/pages.pdf')],
    ]);
    expect(response.status).toBe(200);
    const before = (await pagesOf(await fixture('pdf/letter.pdf'))) + (await pagesOf(await fixture('pdf/pages.pdf')));
    expect(await pagesOf(await bytesOf(response))).toBe(before);
  });

  test('a broken and an encrypted PDF are told apart by name', async () => {
    const broken = await service.post(MERGE, [['files', 'broken.pdf', 'no pdf at all']]);
    expect(broken.status).toBe(400);
    expect(await broken.text()).toContain("'broken.pdf' could not be read");
    const encrypted = await service.post(MERGE, [['files', 'secret.pdf', await fixture('pdf/encrypted.pdf')]]);
    expect(encrypted.status).toBe(400);
    expect(await encrypted.text()).toContain("'secret.pdf' is protected by a password");
  });
});

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}
