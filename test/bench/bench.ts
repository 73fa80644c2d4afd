// `npm run bench`: the service beside its bare engines, in the same run. `-- --quick` for a first look, `-- --strict` to
// fail where an aim is missed, `-- --only=merge` for one kind of work.
import { availableParallelism } from 'node:os';
import { Service } from '../helpers/service.ts';
import { BareProcess } from './bare-process.ts';
import { formOf, post } from './client.ts';
import { closedLoop } from './loop.ts';
import { type Contender, inTurns, type Plan } from './measure.ts';
import { type Result, table, verdicts } from './report.ts';
import { uploadMemory } from './upload-memory.ts';
import { looksLikePdf, type Work, works } from './work.ts';

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const only = args.find(arg => arg.startsWith('--only='))?.slice('--only='.length);
const plan: Plan = quick ? { rounds: 2, sliceMs: 1500 } : { rounds: 4, sliceMs: 4000 };
const upload = quick ? { clients: 20, megabytes: 20 } : { clients: 20, megabytes: 100 };

/** Code is compiled, caches are filled and lanes are opened before the clock runs. */
const WARM_UP_MS = 1000;
/** Renewals belong to another measurement. */
const SETTINGS = {
  LOG_LEVEL: 'error',
  CHROMIUM_RESTART_AFTER: '0',
  LIBREOFFICE_RESTART_AFTER: '0',
  PDFENGINES_RESTART_AFTER: '0',
};

const results: Result[] = [];
const faults: string[] = [];

for (const work of works.filter(({ id }) => only === undefined || id === only)) {
  for (const clients of [1, 4]) {
    tell(`${work.id}, ${clients} client${clients === 1 ? '' : 's'}`);
    results.push(await measure(work, clients));
  }
}
tell(`${upload.clients} clients upload ${upload.megabytes} MB each`);
const memory = await uploadMemory(upload);
faults.push(...memory.faults.map(fault => `upload: ${fault}`));

const judged = verdicts(results, memory);
console.log(`\n${table(results)}\n`);
console.log('CPU: ms per conversion, of the process that answers (own) and of the engines below it.');
console.log(
  `memory: all processes together, at the end of a slice. ${availableParallelism()} cores, shared with the clients.\n`,
);
for (const { text, reached } of judged) console.log(`${reached ? 'reached' : 'MISSED '}  ${text}`);
if (quick) console.log('\nA quick run: good for a look, not for a judgement.');
for (const fault of new Set(faults)) console.error(`WRONG ANSWER  ${fault}`);
const missed = judged.some(({ reached }) => !reached);
process.exitCode = faults.length > 0 || (args.includes('--strict') && missed) ? 1 : 0;

async function measure(work: Work, clients: number): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await Service.start(SETTINGS));
  const bare = stack.use(await BareProcess.start(work, clients));
  const contenders = [contenderAt(service, 'service', work, clients), bare];
  if (work.id === 'docx' && clients > 1) {
    const one = stack.use(await Service.start({ ...SETTINGS, LIBREOFFICE_INSTANCES: '1' }));
    contenders.push(contenderAt(one, '1 instance', work, clients));
  }
  for (const contender of contenders) {
    await work.check(await contender.once());
    await contender.run(WARM_UP_MS);
  }
  const [first, second, single] = await inTurns(contenders, plan);
  if (!first || !second) throw new Error('nothing was measured');
  for (const { name, faults: found } of [first, second, ...(single ? [single] : [])]) {
    faults.push(...found.map(fault => `${work.id}, ${clients} clients, ${name}: ${fault}`));
  }
  return { work: work.id, clients, service: first, bare: second, ...(single && { single }) };
}

function contenderAt(service: Service, name: string, work: Work, clients: number): Contender {
  const form = formOf(work);
  const once = () => post(service.url + work.path, form);
  return {
    name,
    pid: service.process.pid ?? 0,
    once,
    run: ms =>
      closedLoop(clients, ms, async () => {
        if (!looksLikePdf(await once())) throw new Error('no PDF');
      }),
  };
}

function tell(what: string): void {
  console.error(`measuring: ${what}`);
}
