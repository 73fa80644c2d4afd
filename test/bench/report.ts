import type { Figures } from './measure.ts';
import type { UploadMemory } from './upload-memory.ts';

/** An aim, whether it was reached, and the figures that say so. */
export interface Verdict {
  readonly text: string;
  readonly reached: boolean;
}

export interface Result {
  readonly work: string;
  readonly clients: number;
  readonly service: Figures;
  readonly bare: Figures;
  /** The service with one instance of the engine. */
  readonly single?: Figures;
}

/** Of the bare engine's throughput, for html and docx. */
const SHARE = 0.85;
const MERGES_PER_SECOND = 168;
const MERGE_OWN_MS = 4;
const TWO_TO_ONE = 1.6;
const UPLOAD_MB = 60;

const COLUMNS = ['work', 'clients', 'who', '/s', 'p50 ms', 'p95 ms', 'CPU own', 'CPU engines', 'memory MB', 'runs'];

export function table(results: readonly Result[]): string {
  const rows = results.flatMap(({ work, clients, service, bare, single }) =>
    [service, bare, ...(single ? [single] : [])].map((figures, index) => [
      index === 0 ? work : '',
      index === 0 ? String(clients) : '',
      figures.name,
      figures.perSecond.toFixed(1),
      figures.p50.toFixed(1),
      figures.p95.toFixed(1),
      figures.ownMs.toFixed(1),
      figures.enginesMs.toFixed(1),
      (figures.memory / 1e6).toFixed(0),
      String(figures.count),
    ]),
  );
  const widths = COLUMNS.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 || i === 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  return [line(COLUMNS), ...rows.map(line)].join('\n');
}

export function verdicts(results: readonly Result[], upload: UploadMemory): Verdict[] {
  return [...results.flatMap(verdictsOn), uploadVerdict(upload)];
}

function verdictsOn({ work, clients, service, bare, single }: Result): Verdict[] {
  const label = `${work}, ${clients} client${clients === 1 ? '' : 's'}`;
  if (work === 'merge') {
    const own: Verdict = {
      text: `${label}: ${service.ownMs.toFixed(1)} ms CPU of the service's own per merge; aim: at most ${MERGE_OWN_MS}`,
      reached: service.ownMs <= MERGE_OWN_MS,
    };
    if (clients === 1) return [own];
    const rate = `${label}: ${service.perSecond.toFixed(0)} /s; aim: at least ${MERGES_PER_SECOND}`;
    return [{ text: rate, reached: service.perSecond >= MERGES_PER_SECOND }, own];
  }
  const share = service.perSecond / bare.perSecond;
  const all = [
    {
      text: `${label}: ${percent(share)} of the bare engine; aim: at least ${percent(SHARE)}`,
      reached: share >= SHARE,
    },
  ];
  if (single) {
    const factor = service.perSecond / single.perSecond;
    const text = `${label}: ${factor.toFixed(2)} times one instance; aim: at least ${TWO_TO_ONE}`;
    all.push({ text, reached: factor >= TWO_TO_ONE });
  }
  return all;
}

function uploadVerdict({ grewBy }: UploadMemory): Verdict {
  const text = `uploads: the service's own memory grew by ${(grewBy / 1e6).toFixed(0)} MB; aim: less than ${UPLOAD_MB}`;
  return { text, reached: grewBy < UPLOAD_MB * 1e6 };
}

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
