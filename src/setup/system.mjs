import { existsSync, readFileSync } from 'node:fs';
import { installedPackages } from './debian-packages.mjs';

/**
 * @typedef {object} System
 * @property {string} name for people: `Debian GNU/Linux 13 (trixie)`
 * @property {boolean} supported whether its packages are known to do: Debian 12 and later
 * @property {boolean} isRoot
 * @property {ReadonlySet<string>} installed the Debian packages that are there
 * @property {(path: string) => boolean} has whether a file is there
 */

/**
 * What kind of machine this is, read from files only.
 * @returns {System}
 */
export function thisSystem() {
  const release = parseOsRelease(read('/etc/os-release'));
  return {
    name: release.PRETTY_NAME ?? process.platform,
    supported: isSupported(release),
    isRoot: process.geteuid?.() === 0,
    installed: installedPackages(read('/var/lib/dpkg/status')),
    has: existsSync,
  };
}

/**
 * Debian 12 and later; a Debian without a number is one that is still being made.
 * @param {Record<string, string>} release
 */
export function isSupported({ ID, VERSION_ID }) {
  return ID === 'debian' && (VERSION_ID === undefined || Number(VERSION_ID) >= 12);
}

/**
 * @param {string} text of /etc/os-release
 * @returns {Record<string, string>}
 */
export function parseOsRelease(text) {
  const lines = text.matchAll(/^([A-Z_]+)=(?:"([^"\n]*)"|([^"\n]*))$/gm);
  return Object.fromEntries(Array.from(lines, ([, key, quoted, plain]) => [key, quoted ?? plain]));
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
