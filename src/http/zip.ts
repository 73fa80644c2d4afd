import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

export interface ZipEntry {
  /** Absolute path. */
  readonly file: string;
  /** The name in the archive: no folders, distinct from all others. */
  readonly name: string;
}

export interface ZipStream {
  readonly body: Readable;
  /** The size of the whole archive; undefined where it isn't known before it is made. */
  readonly bytes: number | undefined;
}

/**
 * An archive that is made while it is read: entries in the given order, stored as they are (PDFs and pictures are
 * compressed already). Destroying the body closes whatever file is open.
 * @throws the system's error where a file can't be read
 */
export async function zipOf(entries: readonly ZipEntry[]): Promise<ZipStream> {
  const sizes = await Promise.all(entries.map(async ({ file }) => (await stat(file)).size));
  const zip = new ZipFile();
  const open = new Set<Readable>();
  for (const [index, { file, name }] of entries.entries()) {
    zip.addReadStreamLazy(entryName(name, index), { compress: false, size: sizes[index] ?? 0 }, give => {
      const content = createReadStream(file);
      open.add(content);
      content.once('error', error => zip.outputStream.destroy(error));
      content.once('close', () => open.delete(content));
      give(null, content);
    });
  }
  zip.on('error', error => zip.outputStream.destroy(error as Error));
  zip.outputStream.once('close', () => {
    for (const content of open) content.destroy();
  });
  const bytes = await new Promise<number>(resolve => zip.end(resolve));
  return { body: zip.outputStream, bytes: directoryIsSmall(entries) ? bytes : undefined };
}

/** yazl takes what begins like a drive (`a:b.pdf`) for an absolute path. */
function entryName(name: string, index: number): string {
  const safe = name.replace(/^([a-z]):/i, '$1_').replace(/[/\\]/g, '_');
  return safe === '' || safe === '..' || safe === '.' ? `${index + 1}` : safe;
}

/**
 * Whether yazl's forecast of the size holds: it reckons with the 64-bit format once the central directory has 64 KiB, though
 * it then writes it only from 4 GiB on (version 3.3.1). An entry there takes 46 bytes, 9 for its time, and its name.
 */
function directoryIsSmall(entries: readonly ZipEntry[]): boolean {
  return entries.reduce((sum, { name }) => sum + 55 + Buffer.byteLength(name), 0) < 0xff00;
}
