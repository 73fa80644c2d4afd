import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { WorkerError } from '../../../src/process/line-client.ts';
import { within } from '../../helpers/within.ts';
import { Bench, fixturePath } from './pdf-help.ts';

const CASES = 200;

test(`${CASES} broken PDFs: each is merged or refused by name, none crashes, blocks or spoils the worker`, async () => {
  await using bench = await Bench.create();
  const worker = bench.worker();
  await within(20_000, 'the PDF worker to start', worker.start(new AbortController().signal));
  try {
    const random = seeded(20_261_201);
    const sources = await fixtures();
    const broken = bench.path();
    const outcomes = { merged: 0, refused: 0 };
    for (let number = 0; number < CASES; number += 1) {
      const source = sources[Math.floor(random() * sources.length)] ?? Buffer.alloc(0);
      await writeFile(broken, breakIt(source, random));
      const plan = bench.mergeOf([fixturePath('form-b'), broken]);
      const error = await within(
        5_000,
        `broken PDF ${number}`,
        worker.apply(plan).then(
          () => undefined,
          e => e,
        ),
      );
      if (error !== undefined) {
        expect(error, `broken PDF ${number}`).toBeInstanceOf(WorkerError);
        expect([error.code, error.facts], String(error)).toEqual([expect.stringMatching(/^PDF_/), { input: '1' }]);
      }
      outcomes[error === undefined ? 'merged' : 'refused'] += 1;
    }
    expect(worker.healthy).toBe(true);
    expect(Math.min(outcomes.merged, outcomes.refused)).toBeGreaterThan(20);
  } finally {
    await worker.stop();
  }
}, 60_000);

async function fixtures(): Promise<Buffer[]> {
  const folder = dirname(fixturePath('letter'));
  const names = (await readdir(folder)).filter(name => name.endsWith('.pdf')).sort();
  return Promise.all(names.map(name => readFile(join(folder, name))));
}

type Random = () => number;

/** The same numbers in every run (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const KEYS = [
  '/Kids',
  '/Annots',
  '/Dest',
  '/First',
  '/Next',
  '/Parent',
  '/Fields',
  '/Names',
  '/Nums',
  '/OCGs',
  '/T ',
  '/DR',
  '/Count',
];
const JUNK = [' null ', '<<', '>>', '[', ']', ' 99999 0 R ', '(', ' -1 ', '/X'];

function breakIt(pdf: Buffer, random: Random): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  const any = (list: readonly string[]) => list[below(list.length)] ?? '';
  const at = below(pdf.length);
  const text = pdf.toString('latin1');
  const ways: (() => string)[] = [
    () => text.slice(0, at),
    () => text.slice(0, at) + text.slice(at + 1 + below(200)),
    () => text.slice(0, at) + any(JUNK) + text.slice(at),
    () => text.replaceAll(any(KEYS), any(KEYS)),
    () => text.replaceAll(/\b\d+ 0 R/g, found => (random() < 0.1 ? `${1 + below(12)} 0 R` : found)),
    () => [...text].map(letter => (random() < 0.004 ? String.fromCharCode(below(256)) : letter)).join(''),
  ];
  return Buffer.from(ways[below(ways.length)]?.() ?? text, 'latin1');
}
