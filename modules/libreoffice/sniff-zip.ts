import type { Content } from './contents.ts';
import type { Reader } from './sniff.ts';

/** The end record with the longest comment that may follow it, and a directory of some thousand names. */
const END_BYTES = 22 + 0xffff;
const MOST_DIRECTORY_BYTES = 1024 * 1024;

/** Which zipped format a ZIP archive is; `zip` where that can't be seen, be it another one or damaged. */
export async function sniffZip(read: Reader, size: number): Promise<Content> {
  const mimetype = await firstEntry(read);
  if (mimetype?.name === 'mimetype') return BY_MIMETYPE[mimetype.content] ?? 'zip';
  const names = await entryNames(read, size);
  if (names.includes('xl/workbook.bin')) return 'ooxml-binary-sheet';
  return BY_FOLDER.find(([folder]) => names.some(name => name.startsWith(folder)))?.[1] ?? 'zip';
}

/** The first entry, if it is short and stored as it is, which OpenDocument and EPUB ask of their `mimetype`. */
async function firstEntry(read: Reader): Promise<{ name: string; content: string } | undefined> {
  const head = await read(0, 256);
  if (head.length < 30 || head.readUInt16LE(8) !== 0) return undefined;
  const nameEnd = 30 + head.readUInt16LE(26);
  const start = nameEnd + head.readUInt16LE(28);
  const name = head.toString('latin1', 30, nameEnd);
  return { name, content: head.toString('latin1', start, start + head.readUInt32LE(18)).trim() };
}

async function entryNames(read: Reader, size: number): Promise<string[]> {
  const tail = await read(Math.max(0, size - END_BYTES), END_BYTES);
  const end = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end < 0 || end + 22 > tail.length) return [];
  const length = tail.readUInt32LE(end + 12);
  const directory = await read(tail.readUInt32LE(end + 16), Math.min(length, MOST_DIRECTORY_BYTES));
  const names: string[] = [];
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === 0x02014b50; ) {
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28);
    names.push(directory.toString('latin1', at + 46, nameEnd).replaceAll('\\', '/'));
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return names;
}

const BY_FOLDER: readonly (readonly [folder: string, content: Content])[] = [
  ['word/', 'ooxml-text'],
  ['xl/', 'ooxml-sheet'],
  ['ppt/', 'ooxml-slides'],
  ['visio/', 'ooxml-visio'],
];

const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument.';
const OPEN_OFFICE_1 = 'application/vnd.sun.xml.';
const BY_MIMETYPE: Readonly<Record<string, Content>> = {
  'application/epub+zip': 'epub',
  [`${OPEN_DOCUMENT}text`]: 'odf-text',
  [`${OPEN_DOCUMENT}text-template`]: 'odf-text',
  [`${OPEN_DOCUMENT}text-master`]: 'odf-master',
  [`${OPEN_DOCUMENT}text-web`]: 'odf-web',
  [`${OPEN_DOCUMENT}spreadsheet`]: 'odf-sheet',
  [`${OPEN_DOCUMENT}spreadsheet-template`]: 'odf-sheet',
  [`${OPEN_DOCUMENT}presentation`]: 'odf-slides',
  [`${OPEN_DOCUMENT}presentation-template`]: 'odf-slides',
  [`${OPEN_DOCUMENT}graphics`]: 'odf-drawing',
  [`${OPEN_DOCUMENT}graphics-template`]: 'odf-drawing',
  [`${OPEN_DOCUMENT}formula`]: 'odf-formula',
  [`${OPEN_OFFICE_1}writer`]: 'sxw-text',
  [`${OPEN_OFFICE_1}writer.template`]: 'sxw-text',
  [`${OPEN_OFFICE_1}writer.global`]: 'sxw-master',
  [`${OPEN_OFFICE_1}calc`]: 'sxw-sheet',
  [`${OPEN_OFFICE_1}calc.template`]: 'sxw-sheet',
  [`${OPEN_OFFICE_1}impress`]: 'sxw-slides',
  [`${OPEN_OFFICE_1}impress.template`]: 'sxw-slides',
  [`${OPEN_OFFICE_1}draw`]: 'sxw-drawing',
  [`${OPEN_OFFICE_1}draw.template`]: 'sxw-drawing',
  [`${OPEN_OFFICE_1}math`]: 'sxw-formula',
};
