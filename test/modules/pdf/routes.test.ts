import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mergeRoute } from '../../../modules/pdf/routes.ts';
import type { PdfPlan } from '../../../src/capability/capabilities.ts';
import type { RawForm, Upload } from '../../../src/http/fields.ts';
import { readForm } from '../../../src/http/form.ts';
import type { ConversionRequest, ConversionRoute } from '../../../src/http/route.ts';
import { Workspace } from '../../../src/work/workspace.ts';

let folder: string;
let request: ConversionRequest;
const asked: PdfPlan[] = [];
const route = mergeRoute({
  apply: async plan => {
    asked.push(plan);
  },
}) as ConversionRoute;

beforeEach(async () => {
  asked.length = 0;
  folder = await mkdtemp(join(tmpdir(), 'platen-pdf-route-'));
  const { signal } = new AbortController();
  const work = await Workspace.create(join(folder, 'request'));
  request = { id: 'x', signal, work, log: pino({ level: 'silent' }), run: { signal }, outputName: undefined };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const upload = (name: string, field = 'files'): Upload => ({ field, name, path: name, file: `/up/${name}`, bytes: 1 });
const form = (files: readonly Upload[], values: Record<string, string> = {}): RawForm => ({
  files,
  values: new Map(Object.entries(values).map(([name, value]) => [name, [value]])),
});
const convert = (raw: RawForm) => route.convert(readForm(route.fields, raw), request);

test('PDFs are merged in the alphanumeric order of their names, whatever field they come in', async () => {
  const names = ['10.pdf', 'b.pdf', '2.pdf', 'A.PDF'];
  const outputs = await convert(form([...names.map(name => upload(name, name)), upload('notes.txt')]));
  expect(asked[0]?.inputs.map(input => input.name)).toEqual(['2.pdf', '10.pdf', 'A.PDF', 'b.pdf']);
  expect(asked[0]?.output).toMatch(/\.pdf$/);
  expect(outputs).toEqual([{ file: asked[0]?.output }]);
});

test('outlines are carried over only where autoIndexBookmarks asks for it', async () => {
  await convert(form([upload('a.pdf')]));
  await convert(form([upload('a.pdf')], { autoIndexBookmarks: 'true' }));
  expect(asked.map(plan => plan.steps)).toEqual([
    [{ do: 'merge', outline: 'none' }],
    [{ do: 'merge', outline: 'keep' }],
  ]);
});

test('a form without a PDF is refused in the words of the compatible API', () => {
  expect(() => readForm(route.fields, form([upload('a.docx')]))).toThrow(
    'Invalid form data: no form file found for extensions: [.pdf]',
  );
});

test('all problems are told at once, in the order of the compatible API', () => {
  const values = { titleBookmarks: 'x', autoIndexBookmarks: 'foo', flatten: 'y', bookmarks: 'foo', pdfua: 'z' };
  const bool = (name: string, value: string) =>
    `form field '${name}' is invalid (got '${value}', resulting to strconv.ParseBool: parsing "${value}": invalid syntax)`;
  expect(() => readForm(route.fields, form([], values))).toThrow(
    [
      `Invalid form data: ${bool('pdfua', 'z')}`,
      "form field 'bookmarks' is invalid (got 'foo', resulting to unmarshal bookmarks: invalid character 'o' in literal false (expecting 'a'))",
      'no form file found for extensions: [.pdf]',
      bool('flatten', 'y'),
      bool('autoIndexBookmarks', 'foo'),
      bool('titleBookmarks', 'x'),
    ].join('\n'),
  );
});
