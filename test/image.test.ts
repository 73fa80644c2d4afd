import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { modules } from '../modules/index.ts';
import { envName, parseDuration } from '../src/settings/declare.ts';
import { kernelSettings } from '../src/settings/kernel-settings.ts';
import { readSettings } from '../src/settings/read.ts';
import { debianPackages } from '../src/setup/debian-packages.mjs';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const dockerfile = read('Dockerfile');
const compose = read('docker-compose.yml');

describe('the image', () => {
  test('has the packages that npm start installs for the service, and tini', () => {
    const [, list = ''] =
      /apt-get install -y --no-install-recommends \\\n([^&]*?) && /.exec(dockerfile.replace(/^ *#.*\n/gm, '')) ?? [];
    const installed = list.split(/[\s\\]+/).filter(name => name !== '');
    const needed = debianPackages.filter(entry => entry.for === 'service').map(entry => entry.name);
    expect(installed).toEqual([...needed, 'tini']);
  });

  test('is given all that the service reads at run time, and no development tools', () => {
    const sent = read('.dockerignore')
      .split('\n')
      .filter(line => line.startsWith('!'));
    expect(sent).toEqual(['!package.json', '!package-lock.json', '!LICENSE', '!src', '!modules']);
    expect(dockerfile).toContain('npm ci --omit=dev');
  });

  test('carries the version of the package', () => {
    expect(dockerfile).toContain(`ARG VERSION=${JSON.parse(read('package.json')).version}\n`);
  });
});

describe('the compose file', () => {
  const environment = Object.fromEntries(
    Array.from(compose.matchAll(/^ {6}([A-Z_]+): '?([^'\n]*)'?$/gm), ([, name = '', value]) => [name, value]),
  );

  test('names settings that there are, with values that they take', () => {
    const { PLATEN_URL, ...settings } = environment;
    expect(PLATEN_URL).toBe('http://platen:3000');
    const groups = [...kernelSettings, ...modules.map(module => module.settings)];
    const known = new Set(
      groups.flatMap(({ prefix, table }) =>
        Object.entries(table).map(([key, setting]) => envName(prefix, key, setting)),
      ),
    );
    expect(Object.keys(settings).filter(name => !known.has(name))).toEqual([]);
    expect(() => readSettings(groups, { env: settings, args: [] })).not.toThrow();
  });

  test('gives the service longer to stop than it takes at most', () => {
    const [, grace = ''] = /stop_grace_period: (\S+)/.exec(compose) ?? [];
    const graceful = parseDuration(environment.GOTENBERG_GRACEFUL_SHUTDOWN_DURATION ?? '') ?? 0;
    expect(graceful).toBeGreaterThan(0);
    expect(parseDuration(grace)).toBeGreaterThanOrEqual(graceful + 10_000);
  });
});
