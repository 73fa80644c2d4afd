import { readFileSync } from 'node:fs';
import { pagesOf, textOf } from '../helpers/pdf.ts';

/** A kind of work that is measured, and how to see that it was done right. */
export interface Work {
  readonly id: 'html' | 'docx' | 'merge';
  readonly path: string;
  /** Name as sent, and path below fixtures/. */
  readonly files: readonly (readonly [name: string, fixture: string])[];
  /** @throws Error that says what is wrong with the PDF */
  check(pdf: Uint8Array): Promise<void>;
}

const FIXTURES = new URL('../../fixtures/', import.meta.url).pathname;

export const works: readonly Work[] = [
  {
    id: 'html',
    path: '/forms/chromium/convert/html',
    files: [
      ['index.html', 'load/index.html'],
      ['style.css', 'load/style.css'],
    ],
    check: pdf => expectPdf(pdf, { pages: 1, text: 'Printing ink' }),
  },
  {
    id: 'docx',
    path: '/forms/libreoffice/convert',
    files: [['memo.docx', 'load/memo.docx']],
    check: pdf => expectPdf(pdf, { pages: 1, text: 'Memo' }),
  },
  {
    id: 'merge',
    path: '/forms/pdfengines/merge',
    files: [
      ['1.pdf', 'pdf/letter.pdf'],
      ['2.pdf', 'pdf/letter.pdf'],
    ],
    check: async pdf => expectPdf(pdf, { pages: 2 * (await pagesOf(fixture('pdf/letter.pdf'))), text: '' }),
  },
];

/** The absolute path of a file below fixtures/. */
export const fixturePath = (name: string): string => FIXTURES + name;

export const fixture = (name: string): Uint8Array<ArrayBuffer> => Uint8Array.from(readFileSync(fixturePath(name)));

export const looksLikePdf = (bytes: Uint8Array): boolean =>
  bytes.length > 500 && Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-';

async function expectPdf(pdf: Uint8Array, expected: { pages: number; text: string }): Promise<void> {
  if (!looksLikePdf(pdf)) throw new Error(`no PDF: ${Buffer.from(pdf.subarray(0, 200)).toString('utf8')}`);
  const [pages, text] = await Promise.all([pagesOf(pdf), textOf(pdf)]);
  if (pages !== expected.pages) throw new Error(`${pages} pages, not ${expected.pages}`);
  if (!text.includes(expected.text)) throw new Error(`the text "${expected.text}" is not in it`);
}
