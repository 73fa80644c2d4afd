import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { node24 } from './npm-packages.mjs';

const SETPRIV = '/usr/bin/setpriv';
// One Ctrl-C arrives twice: from the terminal, and once more from npm. A second one that is meant comes later than this.
const SAME_ASKING_MS = 300;

/**
 * Runs the service until it ends, passing signals on.
 *
 * It gets a session of its own, so that a Ctrl-C reaches it through here, once: for the service a second signal means
 * "at once". If this process is killed, the kernel sends the service a SIGTERM.
 * @param {string} root the project's folder
 * @param {readonly string[]} args for the service
 * @param {(address: string) => void} onListening told where it listens, once it does
 * @param {{ sameAskingMs?: number }} [options] ms within which two signals are one
 * @returns {Promise<number>} its exit code
 */
export function runService(root, args, onListening, { sameAskingMs = SAME_ASKING_MS } = {}) {
  const service = [node24(root), join(root, 'src/main.ts'), ...args];
  const command = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'TERM', '--', ...service] : service;
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: root,
    detached: true,
    // Node looks up host names in half of this pool: with its 4 threads, two dead names hold up everybody's.
    env: { UV_THREADPOOL_SIZE: '16', ...process.env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', message => {
    const { listening } = /** @type {{ listening?: string }} */ (message ?? {});
    if (listening) onListening(listening);
  });

  let last = Number.NEGATIVE_INFINITY;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - last <= sameAskingMs) return;
      last = now;
      child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}
