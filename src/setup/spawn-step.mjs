import { spawn } from 'node:child_process';

/**
 * Runs a program to its end, its output kept for the case that it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onStatus?: (line: string) => void }} [options] `onStatus` gets the
 *   lines that the program writes to file descriptor 3
 * @throws Error with its first and last lines: npm says what is wrong first, apt last
 */
export function spawnStep(command, args, { cwd, env, onStatus } = {}) {
  return /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
      let output = '';
      const keep = (/** @type {Buffer} */ piece) => {
        output += piece;
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
        reject(new Error(`${command} ${args[0]} failed (${signal ?? `exit code ${code}`}):\n${excerpt(output)}`));
      });
    })
  );
}

/** @param {string} output */
function excerpt(output) {
  const lines = output.trim().split('\n');
  return (lines.length <= 20 ? lines : [...lines.slice(0, 8), '…', ...lines.slice(-10)]).join('\n');
}
