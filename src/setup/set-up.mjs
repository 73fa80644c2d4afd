import { installCommand, installDebianPackages } from './apt.mjs';
import { missingPackages, packagesFor } from './debian-packages.mjs';
import { installNpmPackages, npmPackagesAreCurrent } from './npm-packages.mjs';
import { Progress } from './progress.mjs';
import { thisSystem } from './system.mjs';

/** @typedef {import('./debian-packages.mjs').DebianPackage} DebianPackage */

/** What keeps the set-up from going on: printed as it is, without a stack. */
export class SetUpStopped extends Error {}

/**
 * Installs what is missing and tells what it does; says nothing where all is there.
 * @param {'start' | 'test'} purpose
 * @param {string} root the project's folder
 * @throws SetUpStopped where it can't go on, with what to do
 */
export async function setUp(purpose, root) {
  const needed = packagesFor(purpose);
  const system = thisSystem();
  const missing = missingOn(system, needed);
  const obstacle = whyNot(system, missing, purpose);
  if (obstacle) throw new SetUpStopped(obstacle);

  /** @type {[string, (progress: Progress) => Promise<void>][]} */
  const steps = [];
  if (!npmPackagesAreCurrent(root)) {
    steps.push(['npm packages and Node 24 (npm ci)', () => installNpmPackages(root)]);
  }
  if (missing.length > 0) {
    const title = missing.length === 1 ? '1 Debian package' : `${missing.length} Debian packages`;
    steps.push([title, progress => installDebianPackages(missing, text => progress.now(text))]);
  }
  for (const [index, [title, run]] of steps.entries()) {
    const progress = new Progress(`Setting up, ${index + 1} of ${steps.length}: ${title}`);
    try {
      await run(progress);
    } catch (error) {
      progress.end('failed');
      throw new SetUpStopped(`Platen could not be set up. ${error instanceof Error ? error.message : error}`);
    }
    progress.end('done');
  }
}

/**
 * Debian is asked for packages; elsewhere it counts what is where Debian would have put it.
 * @param {import('./system.mjs').System} system
 * @param {readonly DebianPackage[]} needed
 */
export function missingOn(system, needed) {
  if (system.supported) return missingPackages(needed, system.installed);
  return needed.filter(entry => entry.program !== undefined && !system.has(entry.program));
}

/**
 * Why the missing packages can't be installed from here, and what to do about it.
 * @param {import('./system.mjs').System} system
 * @param {readonly DebianPackage[]} missing
 * @param {'start' | 'test'} purpose
 * @returns {string | undefined} undefined: nothing stands in the way
 */
export function whyNot(system, missing, purpose) {
  if (missing.length === 0 || (system.supported && system.isRoot)) return undefined;
  const list = missing.map(entry => `  ${entry.name.padEnd(26)} ${entry.why}`).join('\n');
  const again = purpose === 'start' ? 'npm start' : 'npm test';
  if (system.supported) {
    return `Platen needs Debian packages that are not installed yet:\n${list}\n\nRun this, then ${again} again:\n\n  ${installCommand(missing)}\n`;
  }
  return `Platen sets itself up on Debian 12 and 13; this is ${system.name}. Missing here:\n${list}\n\nThe image has it all:\n\n  docker build -t platen . && docker run --rm -p 3000:3000 platen\n`;
}
