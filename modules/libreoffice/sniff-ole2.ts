import type { Content } from './contents.ts';
import type { Reader } from './sniff.ts';

/*
 * The directory of an OLE2 file ([MS-CFB]): sectors in a chain, a table (FAT) that says which follows which, and the
 * sectors of that table listed in the header, then in a chain of their own.
 */

const IN_HEADER = 109;
/** Bounds for files that go in circles: sectors of the directory, and of the list of the table's sectors. */
const MOST_SECTORS = 256;
const ENTRY_BYTES = 128;
const NOTHING = 0xfffffffa;

/** Which format an OLE2 file is, by what lies at its root; `ole2` where that says nothing, be it another one or damaged. */
export async function sniffOle2(read: Reader): Promise<Content> {
  const names = new Set(await rootNames(read).catch(() => []));
  return BY_NAME.find(([name]) => names.has(name))?.[1] ?? 'ole2';
}

const BY_NAME: readonly (readonly [name: string, content: Content])[] = [
  ['EncryptedPackage', 'ooxml-encrypted'],
  ['WordDocument', 'ole2-text'],
  ['Workbook', 'ole2-sheet'],
  ['Book', 'ole2-sheet'],
  ['PowerPoint Document', 'ole2-slides'],
  ['VisioDocument', 'ole2-visio'],
  ['Quill', 'ole2-publisher'],
  ['StarWriterDocument', 'staroffice-text'],
  ['StarCalcDocument', 'staroffice-sheet'],
  ['StarDrawDocument3', 'staroffice-drawing'],
  ['StarDrawDocument', 'staroffice-drawing'],
];

async function rootNames(read: Reader): Promise<string[]> {
  const directory = await directoryOf(read);
  const entries = Math.floor(directory.length / ENTRY_BYTES);
  const names: string[] = [];
  const seen = new Set<number>();
  // What lies at the root is a binary tree: left, right, and (from the root entry only) child.
  const open = entries > 0 ? [directory.readUInt32LE(76)] : [];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id >= entries || seen.has(id)) continue;
    seen.add(id);
    const entry = directory.subarray(id * ENTRY_BYTES, (id + 1) * ENTRY_BYTES);
    names.push(entry.toString('utf16le', 0, Math.max(0, Math.min(64, entry.readUInt16LE(64)) - 2)));
    open.push(entry.readUInt32LE(68), entry.readUInt32LE(72));
  }
  return names;
}

async function directoryOf(read: Reader): Promise<Buffer> {
  const header = await read(0, 512);
  const sectorBytes = header.readUInt16LE(30) === 12 ? 4096 : 512;
  const sectorAt = (id: number) => read((id + 1) * sectorBytes, sectorBytes);
  const table = await tableSectors(header, sectorAt, sectorBytes);
  const perSector = sectorBytes / 4;
  const pieces: Buffer[] = [];
  for (let id = header.readUInt32LE(48); id < NOTHING && pieces.length < MOST_SECTORS; ) {
    pieces.push(await sectorAt(id));
    const holder = table[Math.floor(id / perSector)];
    if (holder === undefined) break;
    id = (await sectorAt(holder)).readUInt32LE((id % perSector) * 4);
  }
  return Buffer.concat(pieces);
}

/** Ids of the sectors that hold the table, in its order. */
async function tableSectors(
  header: Buffer,
  sectorAt: (id: number) => Promise<Buffer>,
  sectorBytes: number,
): Promise<number[]> {
  const ids = Array.from({ length: IN_HEADER }, (_, index) => header.readUInt32LE(76 + index * 4));
  const perSector = sectorBytes / 4 - 1;
  let next = header.readUInt32LE(68);
  for (let count = 0; next < NOTHING && count < MOST_SECTORS; count += 1) {
    const sector = await sectorAt(next);
    ids.push(...Array.from({ length: perSector }, (_, index) => sector.readUInt32LE(index * 4)));
    next = sector.readUInt32LE(perSector * 4);
  }
  return ids.filter(id => id < NOTHING);
}
