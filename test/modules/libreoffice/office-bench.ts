import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { convertRoute, type Offices } from '../../../modules/libreoffice/routes.ts';
import { Soffice, type SofficeOptions } from '../../../modules/libreoffice/soffice.ts';
import type { PdfPlan } from '../../../src/capability/capabilities.ts';
import { readForm } from '../../../src/http/form.ts';
import type { ConversionRoute, Output } from '../../../src/http/route.ts';
import type { Attempt } from '../../../src/supervise/types.ts';
import { Workspace } from '../../../src/work/workspace.ts';
import { within } from '../../helpers/within.ts';

export const SOFFICE = '/usr/lib/libreoffice/program/soffice.bin';
export const PYTHON = '/usr/bin/python3';
export const FIXTURES = join(import.meta.dirname, '../../../fixtures/office');

/** A document: its name, and its content or the path of a file that has it. */
export type Document = readonly [name: string, content: Uint8Array | { readonly file: string } | string];

/** A folder, instances of LibreOffice in it, and the route over them without supervisor and HTTP. */
export class OfficeBench implements AsyncDisposable {
  readonly folder: string;
  /** Why attempts retired their instance. */
  readonly retired: string[] = [];
  readonly merged: PdfPlan[] = [];
  readonly #offices: Soffice[] = [];
  #names = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<OfficeBench> {
    return new OfficeBench(await mkdtemp(join(tmpdir(), 'platen-office-')));
  }

  /** A new path in the folder. */
  path(name: string): string {
    this.#names += 1;
    return join(this.folder, `${this.#names}-${name}`);
  }

  /** An instance that has not been started. */
  office(options: Partial<SofficeOptions> = {}): Soffice {
    const office = new Soffice({
      soffice: SOFFICE,
      python: PYTHON,
      memoryLimit: 0,
      folder: async () => {
        const folder = this.path('instance');
        await mkdir(folder, { mode: 0o700 });
        return folder;
      },
      ...options,
    });
    this.#offices.push(office);
    return office;
  }

  async started(options: Partial<SofficeOptions> = {}): Promise<Soffice> {
    const office = this.office(options);
    await within(20_000, 'LibreOffice to start', office.start(new AbortController().signal));
    return office;
  }

  /** What the route makes of a form. */
  async post(
    office: Soffice,
    documents: readonly Document[],
    fields: Record<string, string> = {},
  ): Promise<readonly Output[]> {
    const { signal } = new AbortController();
    const offices: Offices = {
      runAll: async <I, T>(
        items: readonly I[],
        task: (item: I, office: Soffice, attempt: Attempt) => Promise<unknown>,
      ) => {
        const results: T[] = [];
        for (const item of items) results.push((await task(item, office, this.#attempt(signal))) as T);
        return results;
      },
    };
    const pdf = {
      apply: async (plan: PdfPlan) => {
        this.merged.push(plan);
      },
    };
    const route = convertRoute(offices, pdf) as ConversionRoute;
    const files = await Promise.all(documents.map(document => this.#upload(document)));
    const values = new Map(Object.entries(fields).map(([name, value]) => [name, [value]]));
    const work = await Workspace.create(this.path('request'));
    const request = { id: 'x', signal, work, log: pino({ level: 'silent' }), run: { signal }, outputName: undefined };
    return route.convert(readForm(route.fields, { files, values }), request);
  }

  /** The path of the PDF that one document becomes. */
  async pdfOf(office: Soffice, document: Document, fields: Record<string, string> = {}): Promise<string> {
    const [output] = await within(30_000, `${document[0]} to be converted`, this.post(office, [document], fields));
    return output?.file ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#offices.map(office => office.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  #attempt(signal: AbortSignal): Attempt {
    return { id: 'a', instance: 'i', number: 1, signal, retireInstance: reason => this.retired.push(reason) };
  }

  async #upload([name, content]: Document) {
    const file = typeof content === 'object' && 'file' in content ? content.file : this.path('upload');
    if (typeof content === 'string' || content instanceof Uint8Array) await writeFile(file, content);
    return { field: 'files', name, path: name, file, bytes: 1 };
  }
}

export const fixture = (name: string): Document => [name, { file: join(FIXTURES, name) }];

/** Writes a document of every format that LibreOffice can write, and some more, into a folder. Gives their names. */
export async function makeSamples(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(PYTHON, ['-B', join(FIXTURES, 'make.py'), SOFFICE, folder]);
  return stdout.split('\n').filter(line => /^\w+\.\w+$/.test(line));
}

/** Runs a program of the test's own with LibreOffice's Python. */
export async function python(program: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(PYTHON, ['-B', '-c', program, ...args])).stdout;
}
