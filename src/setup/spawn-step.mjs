import { spawn } from 'node:child_process';

/**
 * Runs a program to its end, its output kept for the case that it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onStatus?: (line: string) => void }} [options] `onStatus` gets the
 *   lines that the program writes to file descriptor 3
 * @throws Error with its last lines
 */
export function spawnStep(command, args, { cwd, env, onStatus } = {}) {
  return /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
      let output = '';
      const keep = (/** @type {Buffer} */ piece) => {
        output = (output + piece).slice(-20_000);
      };
      child.stdout?.on('data', keep);
      child.stderr?.on('data', keep);
      let rest = '';
      child.stdio[3]?.on('data', piece => {
        const lines = (rest + piece).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) onStatus?.(line);
      });
      child.once('error', error => reject(new Error(`${command} can't be started: ${error.message}`)));
      child.once('close', (code, signal) => {
        if (code === 0) return resolve();
        const lastLines = output.trimEnd().split('\n').slice(-15).join('\n');
        reject(new Error(`${command} ${args[0]} failed (${signal ?? `exit code ${code}`}):\n${lastLines}`));
      });
    })
  );
}
