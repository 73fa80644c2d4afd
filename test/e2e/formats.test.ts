import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pagesOf, textOf } from '../helpers/pdf.ts';
import { Service } from '../helpers/service.ts';

const MAKE = join(import.meta.dirname, '../../fixtures/office/make.py');
const SOFFICE = '/usr/lib/libreoffice/program/soffice.bin';

/** Formats in which text is drawn, or of which LibreOffice keeps no text: their PDFs are only counted. */
const PICTURES = new Set(
  '.bmp .emf .eps .gif .jpeg .jpg .png .tif .tiff .wmf .svg .pbm .pcx .pgm .ppm .ras .tga .xbm .xpm .pct .psd .met .svm .cgm .dxf'.split(
    ' ',
  ),
);

/** Samples written by hand that LibreOffice 7.4 itself doesn't take for what they are named: no test of ours. */
const NOT_SAMPLES = new Set(['slides.sti', 'drawing.std', 'formula.sxm', 'picture.xbm']);

/** What LibreOffice writes of a document that was never laid out lacks the heights of rows, or the text: page count only. */
const WITHOUT_TEXT = new Set(['memo.uot', 'sheet.fods', 'sheet.ods', 'sheet.ots']);

let service: Service;
let folder: string;
let names: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platen-formats-'));
  const { stdout } = await promisify(execFile)('/usr/bin/python3', [MAKE, SOFFICE, folder]);
  names = stdout
    .trim()
    .split('\n')
    .filter(name => /\.\w+$/.test(name) && !name.startsWith('locked.') && !NOT_SAMPLES.has(name));
  service = await Service.start({ LIBREOFFICE_AUTO_START: 'true' });
}, 120_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('every format that LibreOffice writes, and some that it only reads, becomes a PDF with what is in it', async () => {
  expect(names.length).toBeGreaterThan(60);
  const faults: string[] = [];
  for (const name of names) {
    const content = new Uint8Array(await readFile(join(folder, name)));
    const response = await service.post('/forms/libreoffice/convert', [['files', name, content]]);
    if (response.status !== 200) faults.push(`${name}: ${response.status} ${await response.text()}`);
    else faults.push(...(await lookAt(name, new Uint8Array(await response.arrayBuffer()))));
  }
  expect(faults).toEqual([]);
}, 180_000);

async function lookAt(name: string, pdf: Uint8Array): Promise<string[]> {
  if (!((await pagesOf(pdf)) >= 1)) return [`${name}: no page`];
  if (PICTURES.has(extname(name)) || WITHOUT_TEXT.has(name)) return [];
  return (await textOf(pdf)).trim() === '' ? [`${name}: no text`] : [];
}
