import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { processContract } from '../../contract/process.ts';
import { Bench, fixturePath } from './pdf-help.ts';

processContract('pdf', async () => {
  const bench = await Bench.create();
  return {
    create: () => bench.worker(),
    leftovers: async () => (await readdir(bench.folder)).filter(name => name.startsWith('instance-')),
    work: worker => worker.apply(bench.mergeOf([fixturePath('pages')])),
    async endless(worker) {
      const path = bench.path();
      await promisify(execFile)('mkfifo', [path]);
      return worker.apply(bench.mergeOf([path]));
    },
    dispose: () => bench[Symbol.asyncDispose](),
  };
});
