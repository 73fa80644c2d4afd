// `npm test`: sets the machine up, then lint, types and all tests, whatever the one before said.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTests } from './count-tests.mjs';
import { node24 } from './npm-packages.mjs';
import { SetUpStopped, setUp } from './set-up.mjs';

const root = new URL('../..', import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'platen-test-'));
const report = join(scratch, 'report.json');

const checks = [
  { name: 'lint', args: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'] },
  { name: 'types', args: ['node_modules/typescript/bin/tsc'] },
  {
    name: 'tests',
    args: [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...process.argv.slice(2),
    ],
  },
];

try {
  await setUp('test', root);
  const failed = [];
  for (const { name, args } of checks) {
    console.log(`\n── ${name}`);
    const startedAt = performance.now();
    const code = await run(args);
    console.log(
      `── ${name}: ${code === 0 ? 'good' : 'FAILED'} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
    );
    if (code !== 0) failed.push(name);
  }
  const counts = countTests(readReport());
  if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
  console.log(
    `\n${counts.passed} passed, ${counts.failed} failed${counts.skipped ? `, ${counts.skipped} skipped` : ''}`,
  );
  process.exitCode = failed.length > 0 || counts.failed > 0 || counts.passed === 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof SetUpStopped)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true });
}

/**
 * @param {readonly string[]} args for Node 24
 * @returns {Promise<number>} the exit code
 */
function run(args) {
  const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`;
  const child = spawn(node24(root), args, { cwd: root, env: { ...process.env, PATH: path }, stdio: ['ignore', 1, 2] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', code => resolve(code ?? 1));
  });
}

/** @returns {import('./count-tests.mjs').TestReport} */
function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return {};
  }
}
