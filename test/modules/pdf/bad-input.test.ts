import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failureOf } from '../../../modules/pdf/tools.ts';
import type { PdfWorker } from '../../../modules/pdf/worker.ts';
import { Failure } from '../../../src/failure/failure.ts';
import { within } from '../../helpers/within.ts';
import { Bench, fixturePath, look, onePage, pdfOf } from './pdf-help.ts';

let bench: Bench;
let worker: PdfWorker;

beforeAll(async () => {
  bench = await Bench.create();
  worker = bench.worker();
  await within(20_000, 'the PDF worker to start', worker.start(new AbortController().signal));
});

afterAll(async () => {
  await worker.stop();
  await bench[Symbol.asyncDispose]();
});

/** What a client is told who sends a good PDF and this one. */
async function told(content: Buffer | string, name = 'report.pdf'): Promise<Failure> {
  const file = bench.path();
  await writeFile(file, content);
  const good = { file: fixturePath('letter'), name: 'good.pdf' };
  const plan = { ...bench.mergeOf([]), inputs: [good, { file, name }, good] };
  const error = await within(
    10_000,
    `the answer about ${name}`,
    worker.apply(plan).catch(e => e),
  );
  const failure = failureOf(error, plan);
  expect(failure).toBeInstanceOf(Failure);
  return failure as Failure;
}

const letter = () => readFile(fixturePath('letter'));
const unreadable = "The PDF 'report.pdf' could not be read. Ensure that the file is complete and really is a PDF.";

test.each([
  ['an empty file', async () => ''],
  ['a text named .pdf', async () => 'Dear Sir or Madam,\n'.repeat(50)],
  ['a picture named .pdf', async () => Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ['a header and nothing else', async () => '%PDF-1.7\n'],
  ['a PDF cut short', async () => (await letter()).subarray(0, 400)],
  ['a page tree that leads into itself', () => readFile(fixturePath('loop'))],
  [
    'a PDF whose pages are lost',
    async () => (await readFile(fixturePath('pages'), 'latin1')).replace(/\/Kids/, '/Lost'),
  ],
  [
    'a PDF one page of which is lost',
    async () => withoutObject(await readFile(fixturePath('pages'), 'latin1'), '/Type /Page '),
  ],
  [
    'a PDF a page of which has lost its text',
    async () => withoutObject(await readFile(fixturePath('pages'), 'latin1'), '/Length'),
  ],
])('%s is refused with its name', async (_, content) => {
  const failure = await told(await content());
  expect(failure.reply).toBe(unreadable);
  expect(failure.spec.status).toBe(400);
});

test('a PDF with a password is refused with its name', async () => {
  const failure = await told(await readFile(fixturePath('encrypted')), 'contract.pdf');
  expect(failure.reply).toBe(
    "The PDF 'contract.pdf' is protected by a password. Remove its protection before you send it.",
  );
  expect(failure.spec.status).toBe(400);
});

test('a PDF with a small fault that can be mended is merged whole', async () => {
  const file = bench.path();
  const whole = await readFile(fixturePath('pages'), 'latin1');
  await writeFile(file, whole.replace(/startxref\n\d+/, 'startxref\n7'), 'latin1');
  const plan = bench.mergeOf([file, fixturePath('letter')]);
  await within(10_000, 'the merge', worker.apply(plan));
  expect((await look(plan.output)).pages).toBe(4);
});

test('a document with a chain of 100,000 references does not overrun the worker', async () => {
  const chain = Array.from({ length: 100_000 }, (_, i) => `<</X ${i + 5} 0 R>>`);
  const file = bench.path();
  await writeFile(file, pdfOf([...onePage('/X 4 0 R'), ...chain]));
  const plan = bench.mergeOf([file]);
  expect(await within(60_000, 'the merge', worker.apply(plan))).toEqual({ pages: 1 });
}, 60_000);

/** Takes the first object out whose text has `mark` in it. Its place in the table of objects then leads astray. */
function withoutObject(pdf: string, mark: string): Buffer {
  const objects = [...pdf.matchAll(/^\d+ 0 obj\n[\s\S]*?\nendobj\n/gm)];
  const found = objects.find(([text]) => text.includes(mark));
  if (!found) throw new Error(`no object has ${mark}`);
  return Buffer.from(pdf.replace(found[0], ''), 'latin1');
}
