import { describe, expect, test } from 'vitest';
import { aptProgress } from '../../src/setup/apt.mjs';
import { countTests } from '../../src/setup/count-tests.mjs';
import { packagesFor } from '../../src/setup/debian-packages.mjs';
import { matches } from '../../src/setup/npm-packages.mjs';
import { missingOn, whyNot } from '../../src/setup/set-up.mjs';
import { isSupported, parseOsRelease, type System } from '../../src/setup/system.mjs';

const needed = packagesFor('start');

function system(differences: Partial<System>): System {
  return { name: 'Debian 13', supported: true, isRoot: true, installed: new Set(), has: () => false, ...differences };
}

describe('the machine', () => {
  test('os-release is read with and without quotes', () => {
    expect(parseOsRelease('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n')).toEqual({
      PRETTY_NAME: 'Debian GNU/Linux 12 (bookworm)',
      VERSION_ID: '12',
      ID: 'debian',
    });
  });

  test.each([
    [{ ID: 'debian', VERSION_ID: '12' }, true],
    [{ ID: 'debian', VERSION_ID: '13' }, true],
    [{ ID: 'debian' }, true],
    [{ ID: 'debian', VERSION_ID: '11' }, false],
    [{ ID: 'ubuntu', VERSION_ID: '24.04' }, false],
    [{}, false],
  ])('%j: packages known to do: %s', (release, expected) => {
    expect(isSupported(release)).toBe(expected);
  });
});

describe('what stands in the way', () => {
  test('nothing for root on Debian, nor where nothing is missing', () => {
    expect(whyNot(system({}), needed, 'start')).toBeUndefined();
    expect(whyNot(system({ isRoot: false, supported: false }), [], 'start')).toBeUndefined();
  });

  test('without root the exact command is given, with every missing package and what to run afterwards', () => {
    const text = whyNot(system({ isRoot: false }), needed, 'test');
    const command = `  sudo apt-get update && sudo apt-get install -y --no-install-recommends --no-remove ${needed
      .map(entry => entry.name)
      .join(' ')}\n`;
    expect(text).toContain(command);
    expect(text).toContain('then npm test again');
  });

  test('another system is told what is missing, and that the image has it', () => {
    const ubuntu = system({ name: 'Ubuntu 24.04', supported: false, has: path => path === '/usr/bin/python3' });
    const missing = missingOn(ubuntu, needed);
    const text = whyNot(ubuntu, missing, 'start');
    expect(text).toContain('this is Ubuntu 24.04');
    expect(text).toContain('chromium-headless-shell');
    expect(text).not.toContain('python3-uno');
    expect(text).toContain('docker build');
  });
});

describe('npm packages', () => {
  const wanted = {
    packages: {
      '': { version: '1' },
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '2.0.0', optional: true },
    },
  };

  test('an optional package may be missing', () => {
    expect(matches(wanted, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true);
  });

  test.each([
    ['another version', { 'node_modules/a': { version: '1.0.1' } }],
    ['a missing package', {}],
    [
      'another version of an optional one',
      { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } },
    ],
  ])('%s means: install again', (_, packages) => {
    expect(matches(wanted, { packages })).toBe(false);
  });
});

test.each([
  ['dlstatus:1:12.5:Retrieving file 1 of 9', 'downloading 10 %'],
  ['pmstatus:qpdf:42.8571:Unpacking qpdf (amd64)', 'installing 40 %'],
  ['pmstatus:libc6:amd64:99.9:Configuring', 'installing 90 %'],
  ['pmconffile:/etc/x:10:…', undefined],
])('apt says %s', (line, expected) => {
  expect(aptProgress(line)).toBe(expected);
});

describe('the closing line', () => {
  test('counts passed, failed and skipped', () => {
    expect(
      countTests({ numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1, testResults: [] }),
    ).toEqual({
      passed: 5,
      failed: 1,
      skipped: 3,
    });
  });

  test('a test file that can not be loaded is a failure, and so is a runner that died', () => {
    const testResults = [{ status: 'failed', assertionResults: [] }];
    expect(countTests({ numPassedTests: 5, numFailedTests: 0, testResults }).failed).toBe(1);
    expect(countTests({}).passed).toBe(0);
  });
});
