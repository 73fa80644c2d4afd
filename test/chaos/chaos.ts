// npm run chaos -- --minutes 5
import { parseArgs } from 'node:util';
import { chaos } from './run.ts';
import { tableOf } from './table.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '5' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(`--minutes takes a number above 0, not '${values.minutes}'`);
  process.exit(2);
}

const result = await chaos({
  ms: minutes * 60_000,
  everyMs: 3000,
  clientsPerKind: 2,
  say: line => console.log(line),
});
for (const line of result.mistakes) console.log(line);
console.log(`\n${tableOf(result)}`);
process.exitCode = result.broken.length > 0 ? 1 : 0;
