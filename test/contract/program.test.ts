import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProgramProcess } from '../helpers/program-process.ts';
import { processContract } from './process.ts';

processContract('echo', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'platen-contract-'));
  return {
    create: id => new ProgramProcess(id, 'echo', { folder }),
    leftovers: () => readdir(folder),
    work: process => process.call('echo', { text: 'hello' }),
    endless: process => process.call('wait'),
    dispose: () => rm(folder, { recursive: true }),
  };
});
