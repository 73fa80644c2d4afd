import { access, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pdfTools } from '../../../modules/pdf/tools.ts';
import type { PdfWorker } from '../../../modules/pdf/worker.ts';
import { WorkerError } from '../../../src/process/line-client.ts';
import type { ProcessSupervisor } from '../../../src/supervise/supervisor.ts';
import type { Attempt, RunOptions, Task } from '../../../src/supervise/types.ts';
import { Bench } from './pdf-help.ts';

const options: RunOptions = { signal: new AbortController().signal };
let bench: Bench;

beforeAll(async () => {
  bench = await Bench.create();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Tools whose one worker does `apply`, as the attempt of this number. */
function toolsWith(apply: PdfWorker['apply'], number: 1 | 2 = 1) {
  const retired: string[] = [];
  const attempt: Attempt = {
    id: '1',
    instance: 'pdf-1.1',
    number,
    signal: options.signal,
    retireInstance: reason => retired.push(reason),
  };
  const run = <T>(task: Task<PdfWorker, T>) => task({ apply } as PdfWorker, attempt) as Promise<T>;
  const supervisor = { run } as Pick<ProcessSupervisor<PdfWorker>, 'run'>;
  return { tools: pdfTools(supervisor), retired };
}

const failing = (code: string, facts = {}) =>
  toolsWith(async () => {
    throw new WorkerError(code, facts, 'what the library said');
  });

test('a failure names the file as the client knows it', async () => {
  const { tools } = failing('PDF_UNREADABLE', { input: '1' });
  const inputs = [
    { file: '/tmp/u/1.pdf', name: 'one.pdf' },
    { file: '/tmp/u/2.pdf', name: 'two.pdf' },
  ];
  const error = await tools.apply({ ...bench.mergeOf([]), inputs }, options).catch(e => e);
  expect(error).toMatchObject({ code: 'PDF_UNREADABLE', facts: { file: 'two.pdf' } });
  expect(error.cause.message).toBe('what the library said');
});

test('lack of memory is told with the name of the engine, and the instance is replaced', async () => {
  const { tools, retired } = failing('MEMORY');
  const error = await tools.apply(bench.mergeOf([]), options).catch(e => e);
  expect(error.reply).toBe(
    'The conversion needed more memory than the PDF engine may use. Reduce the document, or raise its memory limit.',
  );
  expect(retired).toEqual(['memory']);
});

test('a fault of the worker itself stays what it is: not the client’s', async () => {
  const { tools } = failing('FAILED');
  await expect(tools.apply(bench.mergeOf([]), options)).rejects.toBeInstanceOf(WorkerError);
});

test('a second attempt starts without what the first one wrote', async () => {
  const plan = bench.mergeOf([]);
  await writeFile(plan.output, 'half a PDF');
  const there = () =>
    access(plan.output).then(
      () => true,
      () => false,
    );
  let seen: boolean | undefined;
  const apply: PdfWorker['apply'] = async () => {
    seen = await there();
    return { pages: 1 };
  };
  await toolsWith(apply, 1).tools.apply(plan, options);
  expect(seen).toBe(true);
  await toolsWith(apply, 2).tools.apply(plan, options);
  expect(seen).toBe(false);
});
