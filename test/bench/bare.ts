// A bare engine in a plain loop, in a process of its own: no HTTP, no supervisor, the same isolation as the service.
// Told by messages what to do; see bare-process.ts.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Browser } from '../../modules/chromium/browser.ts';
import { chromiumSettings } from '../../modules/chromium/settings.ts';
import { libreofficeSettings } from '../../modules/libreoffice/settings.ts';
import { Soffice } from '../../modules/libreoffice/soffice.ts';
import { pdfSettings } from '../../modules/pdf/settings.ts';
import { PdfWorker } from '../../modules/pdf/worker.ts';
import { EgressPolicy } from '../../src/egress/policy.ts';
import type { SettingsOf, SettingTable } from '../../src/settings/declare.ts';
import { readSettings } from '../../src/settings/read.ts';
import { systemClock } from '../../src/time/clock.ts';
import type { BareAnswer, BareOrder } from './bare-process.ts';
import { closedLoop } from './loop.ts';
import { fixturePath, looksLikePdf, type Work, works } from './work.ts';

/** Engines that are ready, driven by so many clients as there are slots. */
interface Bare {
  readonly slots: number;
  convert(slot: number, output: string): Promise<void>;
  stop(): Promise<unknown>;
}

/** How a page is printed where a form says nothing. */
const PRINT = {
  landscape: false,
  printBackground: false,
  scale: 1,
  singlePage: false,
  paperWidth: 8.5,
  paperHeight: 11,
  marginTop: 0.39,
  marginBottom: 0.39,
  marginLeft: 0.39,
  marginRight: 0.39,
  pageRanges: '',
  preferCssPageSize: false,
  header: undefined,
  footer: undefined,
};

const [id = '', clientsText = '1'] = process.argv.slice(2);
const work = works.find(candidate => candidate.id === id);
if (!work) throw new Error(`no work is called ${id}`);
const clients = Number(clientsText);
const folder = await mkdtemp(join(tmpdir(), 'platen-bare-'));
const bare = await { html: bareHtml, docx: bareDocx, merge: bareMerge }[work.id](work);

process.on('message', async (order: BareOrder) => {
  if (order.do === 'stop') {
    await bare.stop();
    await rm(folder, { recursive: true, force: true });
    process.disconnect();
    return;
  }
  if (order.do === 'once') return answer({ pdf: (await convert(0)).toString('base64') });
  const seen = await closedLoop(Math.min(clients, bare.slots), order.ms, async slot => {
    if (!looksLikePdf(await convert(slot))) throw new Error('no PDF');
  });
  answer({ seen });
});
answer({ ready: true });

async function convert(slot: number): Promise<Buffer> {
  const output = join(folder, `${randomUUID()}.pdf`);
  await bare.convert(slot, output);
  const pdf = await readFile(output);
  await rm(output);
  return pdf;
}

function answer(message: BareAnswer): void {
  process.send?.(message);
}

async function bareHtml({ files }: Work): Promise<Bare> {
  const settings = settingsOf('chromium', chromiumSettings);
  const browser = new Browser({
    program: settings.binPath,
    folder: () => newFolder('browser'),
    lanes: settings.maxConcurrency,
    isolation: settings.isolation,
    sandbox: process.geteuid?.() !== 0,
    policy: new EgressPolicy(settings, { clock: systemClock }),
    judgesTunnels: false,
    forbiddenPorts: [],
    environment: {},
    clock: systemClock,
    log: pino({ level: 'silent' }),
  });
  await browser.start(new AbortController().signal);
  const page = { files: files.map(([path, fixture]) => ({ path, file: fixturePath(fixture) })), entry: 'index.html' };
  const waits = { expression: '', selector: '', delayMs: 0 };
  return {
    slots: settings.maxConcurrency,
    async convert(_slot, output) {
      const job = { page, failOnStatus: new Set<number>(), waits, media: '' as const, print: PRINT, output };
      const { clean } = await browser.print(job, { id: randomUUID(), signal: new AbortController().signal });
      await clean;
    },
    stop: () => browser.stop(),
  };
}

async function bareDocx({ files }: Work): Promise<Bare> {
  const settings = settingsOf('libreoffice', libreofficeSettings);
  const { pythonBinPath: python, memoryLimit } = settings;
  const offices = await startAll(
    index =>
      new Soffice({ soffice: settings.binPath, python, memoryLimit, folder: () => newFolder(`office-${index}`) }),
  );
  const [name = '', fixture = ''] = files[0] ?? [];
  const document = { file: fixturePath(fixture), name, filters: ['MS Word 2007 XML'] };
  return {
    slots: offices.length,
    convert: async (slot, output) => offices[slot]?.convert({ ...document, output }),
    stop: () => Promise.all(offices.map(office => office.stop())),
  };
}

async function bareMerge({ files }: Work): Promise<Bare> {
  const { pythonBinPath: python, memoryLimit } = settingsOf('pdfengines', pdfSettings);
  const workers = await startAll(
    index => new PdfWorker({ python, memoryLimit, folder: () => newFolder(`pdf-${index}`) }),
  );
  const inputs = files.map(([name, fixture]) => ({ file: fixturePath(fixture), name }));
  return {
    slots: workers.length,
    async convert(slot, output) {
      await workers[slot]?.apply({ inputs, steps: [{ do: 'merge', outline: 'none' }], output });
    },
    stop: () => Promise.all(workers.map(worker => worker.stop())),
  };
}

/** As many as the service has: one a core, but no more than there are clients. */
function startAll<T extends { start(signal: AbortSignal): Promise<void> }>(make: (index: number) => T): Promise<T[]> {
  const count = Math.min(clients, availableParallelism());
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const engine = make(index);
      await engine.start(new AbortController().signal);
      return engine;
    }),
  );
}

async function newFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path, { mode: 0o700 });
  return path;
}

/** A module's settings at their defaults. */
function settingsOf<T extends SettingTable>(prefix: string, table: T): SettingsOf<T> {
  const group = { prefix, table };
  return readSettings([group], { env: {}, args: [] }).of(group);
}
