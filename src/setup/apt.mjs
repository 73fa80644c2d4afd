import { spawnStep } from './spawn-step.mjs';

/**
 * The line that someone without root has to have run.
 * @param {readonly { name: string }[]} packages
 */
export function installCommand(packages) {
  const names = packages.map(entry => entry.name).join(' ');
  return `sudo apt-get update && sudo apt-get install -y --no-install-recommends --no-remove ${names}`;
}

/**
 * Installs packages through apt and removes none.
 * @param {readonly { name: string }[]} packages
 * @param {(text: string) => void} onProgress told what apt is at, `downloading 40 %`
 * @throws Error with apt's last lines
 */
export async function installDebianPackages(packages, onProgress) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  onProgress('reading the list of packages');
  // A source of somebody else's that can't be reached is no reason to stop: what matters is whether the install works.
  const update = await spawnStep('apt-get', ['update', '-q', ...wait], { env }).catch(error => error);
  const options = ['-y', '-q', '--no-install-recommends', '--no-remove', '-o', 'APT::Status-Fd=3', ...wait];
  const names = packages.map(entry => entry.name);
  await spawnStep('apt-get', ['install', ...options, ...names], {
    env,
    onStatus: line => {
      const text = aptProgress(line);
      if (text) onProgress(text);
    },
  }).catch(error => {
    throw update instanceof Error ? new Error(`${update.message}\n${error.message}`) : error;
  });
}

/**
 * Reads a line of apt's machine-readable progress, in steps of 10 %.
 * @param {string} line such as `pmstatus:qpdf:42.8:Unpacking qpdf (amd64)`
 * @returns {string | undefined} undefined where the line tells of something else
 */
export function aptProgress(line) {
  const [, kind, percent] = /^(dlstatus|pmstatus):[^:]*(?::\w+)?:([\d.]+):/.exec(line) ?? [];
  if (kind === undefined) return undefined;
  return `${kind === 'dlstatus' ? 'downloading' : 'installing'} ${Math.floor(Number(percent) / 10) * 10} %`;
}
