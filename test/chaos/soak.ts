// npm run soak -- --hours 1 --out .soak
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { groupUsage } from '../../src/process/process-group.ts';
import { childrenOf } from '../helpers/processes.ts';
import { Service } from '../helpers/service.ts';
import { chartOf, type Series } from './chart.ts';
import { commandOf } from './faults.ts';
import { closeConnections, converse, KINDS } from './traffic.ts';

const SAMPLE_MS = 10_000;
const CLIENTS_PER_KIND = 2;

/** What is sampled: process groups by what their leader is, and the service itself. */
const GROUPS = [
  ['Chromium', /^\/\S*headless-shell .*--remote-debugging-pipe/],
  ['LibreOffice', /soffice\.bin -env/],
  ['bridges', /bridge\.py/],
  ['PDF workers', /worker\.py/],
] as const;

const { values } = parseArgs({
  options: { hours: { type: 'string', default: '1' }, out: { type: 'string', default: '.soak' } },
});
const hours = Number(values.hours);
if (!(hours > 0)) {
  console.error(`--hours takes a number above 0, not '${values.hours}'`);
  process.exit(2);
}
process.exitCode = await soak(hours * 3_600_000, values.out);

/** Steady mixed traffic; memory sampled into a CSV, and drawn. Gives the exit code: 1 where an answer was wrong. */
async function soak(ms: number, out: string): Promise<number> {
  await mkdir(out, { recursive: true });
  await using service = await Service.start({ LOG_LEVEL: 'warn', PDFENGINES_AUTO_START: 'true' });
  const names = ['service', ...GROUPS.map(([name]) => name)];
  const csv = join(out, 'memory.csv');
  await writeFile(csv, `minutes,requests,wrong,${names.join(',')}\n`);
  const series: Series[] = names.map(name => ({ name, points: [] }));
  const began = performance.now();
  const end = began + ms;
  let requests = 0;
  let wrong = 0;
  const clients = KINDS.flatMap(kind =>
    Array.from({ length: CLIENTS_PER_KIND }, async () => {
      while (performance.now() < end) {
        const outcome = await converse(service.url, kind, `${kind.name}-${++requests}`);
        if (outcome.right) continue;
        wrong += 1;
        console.log(`wrong: ${outcome.status} ${outcome.text}`);
      }
    }),
  );
  const sampling = (async () => {
    while (performance.now() < end) {
      await new Promise(resolve => setTimeout(resolve, Math.min(SAMPLE_MS, Math.max(0, end - performance.now()))));
      const minutes = (performance.now() - began) / 60_000;
      const megabytes = await memoryOf(service);
      for (const [index, value] of megabytes.entries()) series[index]?.points.push([minutes, value]);
      const figures = megabytes.map(value => value.toFixed(1));
      await appendFile(csv, `${minutes.toFixed(2)},${requests},${wrong},${figures.join(',')}\n`);
      console.log(`${minutes.toFixed(1)} min, ${requests} requests, ${wrong} wrong: ${figures.join(', ')} MB`);
    }
  })();
  await Promise.all([...clients, sampling]);
  closeConnections();
  const { code } = await service.stop();
  const left = await service.leftovers();
  await writeFile(
    join(out, 'memory.svg'),
    chartOf(series, { title: `Memory over ${requests} requests`, x: 'minutes', y: 'MB' }),
  );
  console.log(`exit code ${code}, ${left.length} files left; ${csv} and memory.svg beside it`);
  return wrong === 0 && code === 0 && left.length === 0 ? 0 : 1;
}

/** MB that belong to each alone, in the order of the names. */
async function memoryOf(service: Service): Promise<number[]> {
  const pids = await childrenOf(service.process.pid ?? 0);
  const own = await groupUsageOf([service.process.pid ?? 0], true);
  const groups = GROUPS.map(([, what]) => groupUsageOf(pids.filter(pid => what.test(commandOf(pid)))));
  return [own, ...(await Promise.all(groups))];
}

async function groupUsageOf(leaders: readonly number[], single = false): Promise<number> {
  const usages = await Promise.all(leaders.map(pid => (single ? ownUsage(pid) : groupUsage(pid))));
  return usages.reduce((sum, usage) => sum + (usage?.residentBytes ?? 0), 0) / 1e6;
}

/** The service shares this command's process group, so it is looked at alone. */
async function ownUsage(pid: number): Promise<{ residentBytes: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(match => Number(match[1]));
  return { residentBytes: kilobytes.reduce((sum, value) => sum + value, 0) * 1024 };
}
