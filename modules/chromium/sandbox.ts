import type { Logger } from 'pino';
import { startChild } from '../../src/process/child.ts';
import type { ChromiumSettings } from './settings.ts';

/**
 * Whether the browser shall use its own sandbox. It needs user namespaces and refuses to run as root: both are found
 * out, not guessed, and one log line says what would make it work.
 */
export async function wantsSandbox(setting: ChromiumSettings['sandbox'], log: Logger): Promise<boolean> {
  if (setting !== 'auto') return setting === 'on';
  const obstacle = process.getuid?.() === 0 ? AS_ROOT : (await namespacesWork()) ? undefined : NO_NAMESPACES;
  if (obstacle) log.info(`Chromium runs without its own sandbox: ${obstacle}`);
  return obstacle === undefined;
}

const AS_ROOT = 'the service runs as root. It would be used if another user ran it.';
const NO_NAMESPACES =
  'this user may not make user namespaces. It would be used with the sysctl kernel.unprivileged_userns_clone=1, and in a container with a seccomp profile that allows them.';

async function namespacesWork(): Promise<boolean> {
  const probe = { command: '/usr/bin/unshare', args: ['--user', '--pid', '--fork', '/bin/true'], cwd: '/', env: {} };
  try {
    const { exitCode } = await (await startChild(probe)).ended;
    return exitCode === 0;
  } catch {
    return false;
  }
}
