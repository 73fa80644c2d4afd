import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PdfWorker } from '../../../modules/pdf/worker.ts';
import { within } from '../../helpers/within.ts';
import { Bench, fixturePath, look, qpdfCheck, type Seen, textOf } from './pdf-help.ts';

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

async function merged(names: readonly string[], outline: 'keep' | 'none' = 'keep'): Promise<Seen & { file: string }> {
  const plan = bench.mergeOf(names.map(fixturePath), outline);
  await within(10_000, `the merge of ${names}`, worker.apply(plan));
  await qpdfCheck(plan.output);
  return { ...(await look(plan.output)), file: plan.output };
}

describe('pages', () => {
  test('come one after the other, in the order of the parts', async () => {
    const { file, pages } = await merged(['pages', 'letter', 'packed']);
    expect(pages).toBe(6);
    expect((await textOf(file)).map(text => text.trim())).toEqual([
      'pages page 1',
      'pages page 2',
      'pages page 3',
      'letter page 1',
      'packed page 1',
      'packed page 2',
    ]);
  });

  test('one part alone stays as it is', async () => {
    expect((await merged(['links-a'])).links).toEqual((await merged(['links-a', 'letter'])).links.slice(0, 3));
  });

  test('the same file twice is there twice', async () => {
    const { file } = await merged(['letter', 'letter']);
    expect((await textOf(file)).map(text => text.trim())).toEqual(['letter page 1', 'letter page 1']);
  });

  test('keep a size and a rotation that their document gives to all its pages at once', async () => {
    const seen = await merged(['letter', 'inherited', 'letter']);
    expect(seen.sizes).toEqual([
      [420, 595],
      [300, 200],
      [300, 200],
      [420, 595],
    ]);
    expect(seen.rotations).toEqual([0, 90, 90, 0]);
  });

  test('of a document that opens without a password are merged, and the result opens without one', async () => {
    const seen = await merged(['owner-only', 'letter']);
    expect(seen.encrypted).toBe(false);
    expect(await textOf(seen.file)).toHaveLength(2);
  });

  test('keep their labels; parts without labels count on', async () => {
    expect((await merged(['letter', 'labels', 'letter'])).labels).toEqual(['1', 'i', 'ii', 'A-1', '5']);
    expect((await merged(['letter', 'letter'])).labels).toEqual([]);
  });

  test('what a layer hides stays hidden', async () => {
    const seen = await merged(['letter', 'layers']);
    expect(seen.layersOff).toEqual(['hidden']);
  });
});

describe('links', () => {
  test('lead where they led, also when two parts name their targets alike; one that leads nowhere is gone', async () => {
    const seen = await merged(['links-a', 'letter', 'links-b']);
    expect(seen.links).toEqual([
      [3, 3, 1, 2, 'https://example.com/'],
      [1, 3],
      [2],
      [],
      [7, 7, 5, 6, 'https://example.com/'],
      [5, 7],
      [6],
    ]);
  });
});

describe('outline', () => {
  const entries = (shift: number) => [
    {
      title: 'Part One',
      to: 1 + shift,
      open: true,
      children: [
        { title: 'Chapter 1', to: 2 + shift },
        {
          title: 'Chapter 2 – “häkchen”',
          to: 3 + shift,
          open: false,
          children: [{ title: 'Section 2.1', to: 3 + shift }],
        },
      ],
    },
    { title: 'Site', to: 'https://example.com/' },
    { title: 'End', to: 3 + shift },
  ];

  test('entries of every part are kept and lead to the pages that they led to', async () => {
    expect((await merged(['outline', 'letter', 'outline'])).outline).toEqual([...entries(0), ...entries(4)]);
  });

  test('is left out where it is not asked for', async () => {
    expect((await merged(['outline', 'letter'], 'none')).outline).toEqual([]);
  });
});

describe('form fields', () => {
  test('of equal names keep their own values, looks and states', async () => {
    const { fields } = await merged(['form-a', 'form-b']);
    expect(fields).toEqual({
      name: { value: 'Anna', pages: [1], states: [], font: '/Helvetica' },
      'address.street': { value: 'Anna street', pages: [1], states: [], font: '/Helvetica' },
      agree: { value: '/Yes', pages: [1], states: ['/Yes'], font: '/Helvetica' },
      size: { value: '/small', pages: [1, 1], states: ['/small', '/Off'], font: '/Helvetica' },
      'name+1': { value: 'Bert', pages: [2], states: [], font: '/Courier' },
      'address+1.street': { value: 'Bert street', pages: [2], states: [], font: '/Courier' },
      'agree+1': { value: '/Off', pages: [2], states: ['/Off'], font: '/Courier' },
      'size+1': { value: '/large', pages: [2, 2], states: ['/Off', '/large'], font: '/Courier' },
    });
  });

  test('of the same form three times are three sets of fields', async () => {
    const { fields } = await merged(['form-a', 'form-a', 'form-a']);
    expect(Object.keys(fields).filter(name => name.startsWith('name'))).toEqual(['name', 'name+1', 'name+2']);
    expect(Object.values(fields).map(field => field.font)).toEqual(Array(12).fill('/Helvetica'));
  });

  test('can still be filled in and show what was filled in', async () => {
    const { file } = await merged(['form-a', 'form-b']);
    expect((await textOf(file)).map(text => text.match(/\b(Anna|Bert)\b/g)?.length)).toEqual([2, 2]);
  });
});

describe('attachments', () => {
  test('of all parts are kept; of two with one name the second is numbered', async () => {
    expect((await merged(['attachments-a', 'letter', 'attachments-b'])).attachments).toEqual({
      'a.txt': 'only a',
      'notes.txt': 'notes of a',
      'notes (2).txt': 'notes of b',
    });
  });
});
