import { access } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXTENSIONS } from '../../../modules/libreoffice/formats.ts';
import type { Soffice } from '../../../modules/libreoffice/soffice.ts';
import { imagesOf, pagesOf, sizeOf, textOf } from '../../helpers/pdf.ts';
import { fixture, makeSamples, OfficeBench } from './office-bench.ts';

/** What must be in the PDF, by the source that a sample was made from. */
const CONTENT: Readonly<Record<string, RegExp>> = {
  memo: /The press is ready\./,
  sheet: /Paper/,
  slides: /First slide/,
  drawing: /A drawing/,
};
/** Formats of a drawing that have pixels, or their preview, instead of its text. */
const PIXELS = /^\.(bmp|eps|gif|jpe?g|png|tiff?)$/;

let bench: OfficeBench;
let office: Soffice;
let samples: string;
let names: string[];

beforeAll(async () => {
  bench = await OfficeBench.create();
  samples = bench.folder;
  names = await makeSamples(samples);
  office = await bench.started();
});
afterAll(() => bench[Symbol.asyncDispose]());

test('there is a sample for most extensions, and all samples have one that is accepted', () => {
  expect(names.length).toBeGreaterThan(80);
  expect(names.filter(name => !EXTENSIONS.includes(extname(name)))).toEqual([]);
});

test('a document of each format that LibreOffice writes, and of some that it only reads, is really converted', async () => {
  const wrong: string[] = [];
  for (const name of names.filter(sample => !/^(formula|locked)/.test(sample))) {
    const kind = name.split('.')[0] ?? '';
    try {
      const pdf = await bench.pdfOf(office, [name, { file: join(samples, name) }]);
      const hasPixels = kind === 'picture' || PIXELS.test(extname(name));
      const right = hasPixels ? (await imagesOf(pdf)) > 0 : CONTENT[kind]?.test(await textOf(pdf));
      if (!right) wrong.push(`${name}: ${(await textOf(pdf)).slice(0, 80)}`);
    } catch (error) {
      wrong.push(`${name}: ${error}`);
    }
  }
  expect(wrong).toEqual([]);
}, 120_000);

test('formulas are converted where the installation can, and refused with the reason where it cannot', async () => {
  const window = '/usr/lib/libreoffice/share/config/soffice.cfg/modules/smath/ui/mathwindow.ui';
  const complete = await access(window).then(
    () => true,
    () => false,
  );
  const pdf = bench.pdfOf(office, fixture('formula.mml'));
  if (complete) expect(await textOf(await pdf)).toMatch(/E\s*=\s*m/);
  else await expect(pdf).rejects.toThrow("LibreOffice can't read 'formula.mml' here");
});

test('pages keep their number and their size', async () => {
  const four = await bench.pdfOf(office, fixture('pages.fodt'));
  expect(await pagesOf(four)).toBe(4);
  expect(await sizeOf(four)).toEqual({ width: expect.closeTo(595.3, 0), height: expect.closeTo(841.9, 0) });
  const slides = await bench.pdfOf(office, fixture('slides.fodp'));
  expect(await pagesOf(slides)).toBe(2);
  expect(await sizeOf(slides)).toEqual({ width: expect.closeTo(793.7, 0), height: expect.closeTo(446.5, 0) });
});

test('formats that LibreOffice has no filter for are refused by name, before it is asked', async () => {
  for (const name of ['book.epub', 'film.swf', 'formula.smf', 'sheet.pxl', 'page.pwp']) {
    const content = name === 'book.epub' ? EPUB : Buffer.from([1, 2, 3, 0, 4]);
    await expect(bench.pdfOf(office, [name, content])).rejects.toMatchObject({ code: 'OFFICE_NO_FILTER' });
  }
});

/** The beginning of an EPUB: a stored entry that says what it is. */
const EPUB = Buffer.concat([
  Buffer.from('504b03040a00000000000000000000000000140000001400000008000000', 'hex'),
  Buffer.from('mimetypeapplication/epub+zip', 'latin1'),
]);
