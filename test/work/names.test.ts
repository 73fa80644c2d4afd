import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentDisposition } from '../../src/http/content-disposition.ts';
import { diskExtension, distinctNames, fileNameOf, relativePathOf, textFromBytes } from '../../src/work/names.ts';

test.each([
  ['a/b\\c.pdf', 'c.pdf'],
  ['tab\there\x7f.pdf', 'tabhere.pdf'],
  ['u\u0308.pdf', 'ü.pdf'],
  ['foo\\', ''],
])('the name of %j is %j', (given, name) => {
  expect(fileNameOf(given)).toBe(name);
});

test.each([
  ['a.PDF', '.PDF'],
  ['archive.tar.gz', '.gz'],
  ['no extension', ''],
  ['evil.p/df', ''],
  ['x.$(rm)', ''],
  [`x.${'y'.repeat(17)}`, ''],
])('on disk %j keeps of its name only %j', (name, extension) => {
  expect(diskExtension(name)).toBe(extension);
});

test('no path leaves its root, whatever a client makes up', () => {
  const segment = fc.constantFrom('..', '.', '', 'a', '…', '.. ', '\x00..', 'C:');
  const separator = fc.constantFrom('/', '\\', '//');
  fc.assert(
    fc.property(fc.array(fc.tuple(segment, separator)), parts => {
      const path = relativePathOf(parts.flat().join(''));
      expect(path.startsWith('/')).toBe(false);
      expect(path.split('/')).not.toContain('..');
      expect(path).not.toMatch(/[\\\x00]/);
    }),
  );
});

test('bytes are read as UTF-8, or as Latin-1 where they are none', () => {
  expect(textFromBytes(Buffer.from('grüße €').toString('latin1'))).toBe('grüße €');
  expect(textFromBytes('gr\xfc\xdfe')).toBe('grüße');
  expect(textFromBytes('already € decoded')).toBe('already € decoded');
});

test('distinct names are distinct, keep their order, and leave real names alone', () => {
  expect(distinctNames(['a.pdf', 'a.pdf', 'a (2).pdf', 'a.pdf', '.x', '.x', 'n', 'n'])).toEqual([
    'a.pdf',
    'a (3).pdf',
    'a (2).pdf',
    'a (4).pdf',
    '.x',
    '.x (2)',
    'n',
    'n (2)',
  ]);
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'a (2)', 'a (3)', 'b.c', 'b (2).c')), names => {
      expect(new Set(distinctNames(names)).size).toBe(names.length);
    }),
  );
});

test('any name makes a header that Node sends, and comes back whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), text => {
      const name = fileNameOf(text);
      const header = contentDisposition(name);
      expect(header).toMatch(/^[\x20-\x7e]*$/);
      const extended = /filename\*=UTF-8''(.*)$/.exec(header)?.[1];
      const plain = /filename="((?:[^"\\]|\\.)*)"/.exec(header)?.[1]?.replaceAll(/\\(.)/g, '$1');
      expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(name.toWellFormed());
    }),
  );
});
