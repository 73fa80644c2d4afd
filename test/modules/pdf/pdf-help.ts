import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PdfWorker } from '../../../modules/pdf/worker.ts';
import type { PdfPlan } from '../../../src/capability/capabilities.ts';

const run = promisify(execFile);
const FIXTURES = join(import.meta.dirname, '../../../fixtures/pdf');
const LOOK = join(import.meta.dirname, 'look.py');

export const PYTHON = '/usr/bin/python3';

/** What a reader finds in a PDF: see look.py. */
export interface Seen {
  readonly pages: number;
  readonly sizes: readonly (readonly number[])[];
  readonly rotations: readonly number[];
  /** Per page: the page that each link leads to, or its address, or what is wrong with it. */
  readonly links: readonly (readonly (number | string | null)[])[];
  readonly outline: readonly Entry[];
  readonly fields: Readonly<Record<string, SeenField>>;
  readonly attachments: Readonly<Record<string, string>>;
  readonly layersOff: readonly string[];
  readonly labels: readonly string[];
  readonly encrypted: boolean;
}

export interface Entry {
  readonly title: string;
  readonly to: number | string | null;
  readonly open?: boolean;
  readonly children?: readonly Entry[];
}

export interface SeenField {
  readonly value: string;
  readonly pages: readonly number[];
  readonly states: readonly string[];
  readonly font: string;
}

/** A folder of its own for one test file, with what the tests of this module need in it. */
export class Bench implements AsyncDisposable {
  readonly folder: string;
  #names = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<Bench> {
    return new Bench(await mkdtemp(join(tmpdir(), 'platen-pdf-test-')));
  }

  path(extension = '.pdf'): string {
    this.#names += 1;
    return join(this.folder, `${this.#names}${extension}`);
  }

  /** A copy of a fixture that a test may spoil. */
  async copyOf(fixture: string): Promise<string> {
    const copy = this.path();
    await copyFile(fixturePath(fixture), copy);
    return copy;
  }

  worker(options: { memoryLimit?: number; python?: string } = {}): PdfWorker {
    return new PdfWorker({
      python: options.python ?? PYTHON,
      memoryLimit: options.memoryLimit ?? 0,
      folder: () => mkdtemp(join(this.folder, 'instance-')),
    });
  }

  mergeOf(inputs: readonly string[], outline: 'keep' | 'none' = 'keep'): PdfPlan {
    return {
      inputs: inputs.map(file => ({ file, name: file })),
      steps: [{ do: 'merge', outline }],
      output: this.path(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function fixturePath(name: string): string {
  return join(FIXTURES, `${name}.pdf`);
}

export async function look(file: string): Promise<Seen> {
  return JSON.parse((await run(PYTHON, [LOOK, file])).stdout);
}

/** Rejects with qpdf's output if it finds a fault, or anything to warn of. */
export async function qpdfCheck(file: string): Promise<void> {
  await run('qpdf', ['--check', file]);
}

/** The text of all pages, a page an element. */
export async function textOf(file: string): Promise<string[]> {
  const { stdout } = await run('pdftotext', ['-layout', file, '-']);
  return stdout.split('\f').slice(0, -1);
}

/** A PDF of these objects; the first is its catalog. */
export function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = pieces[0]?.length ?? 0;
  const add = (piece: string | Buffer) => {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    length += bytes.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    add(`${index + 1} 0 obj\n`);
    add(object);
    add('\nendobj\n');
  }
  const start = length;
  const rows = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  add(`trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(pieces);
}

/** The first three objects of a PDF with one page; `more` goes into the page's dictionary. */
export function onePage(more: string): string[] {
  return [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]${more}>>`,
  ];
}
