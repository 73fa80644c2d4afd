import { describe, expect, test } from 'vitest';
import { debianPackages, installedPackages, missingPackages, packagesFor } from '../../src/setup/debian-packages.mjs';

const STATUS = `Package: util-linux
Essential: yes
Status: install ok installed
Version: 2.41

Package: qpdf
Status: deinstall ok config-files
Version: 12

Package: curl
Status: install ok half-configured

Package: fonts-noto-cjk
Status: hold ok installed
Description: Status: install ok installed
`;

describe('what dpkg has', () => {
  test('a package counts when it is installed, be it essential or held', () => {
    expect([...installedPackages(STATUS)]).toEqual(['util-linux', 'fonts-noto-cjk']);
  });

  test('a machine without dpkg has none', () => {
    expect(installedPackages('').size).toBe(0);
  });
});

describe('what is missing', () => {
  test('a bare machine needs all of them, in the order of the table', () => {
    expect(missingPackages(debianPackages, new Set())).toEqual(debianPackages);
  });

  test('nothing where all is there', () => {
    expect(missingPackages(debianPackages, new Set(debianPackages.map(entry => entry.name)))).toEqual([]);
  });

  test('a LibreOffice with desktop is kept, and completed with parts of its own kind', () => {
    const names = missingPackages(packagesFor('start'), new Set(['libreoffice-core', 'libreoffice-writer'])).map(
      entry => entry.name,
    );
    expect(names).toContain('libreoffice-calc');
    expect(names).not.toContain('libreoffice-writer');
    expect(names.filter(name => name.endsWith('-nogui'))).toEqual([]);
  });

  test('npm start needs no test tools, npm test needs them', () => {
    const names = (purpose: 'start' | 'test') => packagesFor(purpose).map(entry => entry.name);
    expect(names('start')).not.toContain('qpdf');
    expect(names('test')).toContain('qpdf');
    expect(names('start')).toContain('chromium-headless-shell');
  });
});
