import { type FileHandle, open } from 'node:fs/promises';
import type { Content } from './contents.ts';
import { sniffOle2 } from './sniff-ole2.ts';
import { looksLikeText, sniffMarkup } from './sniff-text.ts';
import { sniffZip } from './sniff-zip.ts';

/** What is read of a file's beginning: enough for any signature and for the root of an XML document. */
const HEAD_BYTES = 8192;

/**
 * What a file contains, by its bytes alone. Reads a few kilobytes of it, however large it is.
 * @throws the system's error where it can't be read
 */
export async function sniff(path: string): Promise<Content> {
  await using file = await open(path);
  const { size } = await file.stat();
  const head = await read(file, 0, Math.min(size, HEAD_BYTES));
  return (await sniffContainer(file, size, head)) ?? sniffHead(head);
}

/** What a beginning shows by itself: for all but the containers. */
export function sniffHead(head: Buffer): Content {
  if (head.length === 0) return 'empty';
  const signature = SIGNATURES.find(([offset, bytes]) => head.subarray(offset, offset + bytes.length).equals(bytes));
  if (signature) return signature[2];
  if (head.toString('latin1', 0, 2) === 'BM' && head.subarray(6, 10).equals(Buffer.alloc(4))) return 'bmp';
  if (/^(%!PS|\xc5\xd0\xd3\xc6)/.test(head.toString('latin1', 0, 4))) return hasPreview(head) ? 'eps' : 'postscript';
  return sniffMarkup(head) ?? (looksLikeText(head) ? 'text' : 'binary');
}

/** A binary header that gives a WMF or a TIFF a length, or a bitmap among the comments. */
function hasPreview(head: Buffer): boolean {
  if (head[0] !== 0xc5) return head.includes('%%BeginPreview');
  return head.length >= 28 && (head.readUInt32LE(16) > 0 || head.readUInt32LE(24) > 0);
}

async function sniffContainer(file: FileHandle, size: number, head: Buffer): Promise<Content | undefined> {
  const reader = (offset: number, length: number) => read(file, offset, Math.max(0, Math.min(length, size - offset)));
  if (head.subarray(0, 4).equals(ZIP)) return sniffZip(reader, size);
  if (head.subarray(0, 8).equals(OLE2)) return sniffOle2(reader);
  return undefined;
}

/** Reads a piece of the file; shorter than asked for where the file ends. */
export type Reader = (offset: number, length: number) => Promise<Buffer>;

async function read(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

const ZIP = Buffer.from('PK\x03\x04', 'latin1');
const OLE2 = Buffer.from('d0cf11e0a1b11ae1', 'hex');

const SIGNATURES: readonly (readonly [offset: number, bytes: Buffer, content: Content])[] = [
  [0, Buffer.from('{\\rtf', 'latin1'), 'rtf'],
  [0, Buffer.from('%PDF-', 'latin1'), 'pdf'],
  [0, Buffer.from('89504e470d0a1a0a', 'hex'), 'png'],
  [0, Buffer.from('ffd8ff', 'hex'), 'jpeg'],
  [0, Buffer.from('GIF8', 'latin1'), 'gif'],
  [0, Buffer.from('49492a00', 'hex'), 'tiff'],
  [0, Buffer.from('4d4d002a', 'hex'), 'tiff'],
  [0, Buffer.from('8BPS', 'latin1'), 'psd'],
  [40, Buffer.from(' EMF', 'latin1'), 'emf'],
  [0, Buffer.from('d7cdc69a', 'hex'), 'wmf'],
  [0, Buffer.from('1f8b', 'hex'), 'gzip'],
];
