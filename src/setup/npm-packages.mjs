import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnStep } from './spawn-step.mjs';

/**
 * @typedef {{ version?: string, optional?: boolean }} LockEntry
 * @typedef {{ packages?: Record<string, LockEntry> }} Lock
 */

/**
 * The Node that runs the service and the tests, whatever started the set-up.
 * @param {string} root the project's folder
 */
export const node24 = root => join(root, 'node_modules/node/bin/node');

/**
 * Whether node_modules is what package-lock.json asks for.
 * @param {string} root the project's folder
 */
export function npmPackagesAreCurrent(root) {
  const installed = readLock(join(root, 'node_modules/.package-lock.json'));
  const wanted = readLock(join(root, 'package-lock.json'));
  return wanted !== undefined && installed !== undefined && matches(wanted, installed) && existsSync(node24(root));
}

/**
 * npm writes down what it installed; an optional package may be missing there, as it may be for another system.
 * @param {Lock} wanted
 * @param {Lock} installed
 */
export function matches(wanted, installed) {
  return Object.entries(wanted.packages ?? {}).every(([path, entry]) => {
    if (path === '') return true;
    const there = installed.packages?.[path];
    return there ? there.version === entry.version : entry.optional === true;
  });
}

/**
 * Runs `npm ci`. Only errors are shown: under Node 20 npm warns of every package that asks for a newer Node, and the
 * newer Node is what it is about to install.
 * @param {string} root the project's folder
 * @throws Error with npm's last lines
 */
export async function installNpmPackages(root) {
  // npm replaces the folder that it would be started from, where this very script runs on the Node in there.
  const path = (process.env.PATH ?? '').split(':').filter(folder => !folder.includes('node_modules/.bin'));
  await spawnStep('npm', ['ci', '--include=dev', '--loglevel=error', '--no-audit', '--no-fund', '--no-progress'], {
    cwd: root,
    env: { ...process.env, PATH: path.join(':'), NODE_ENV: '' },
  });
}

/**
 * @param {string} file
 * @returns {Lock | undefined}
 */
function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
