import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/*
 * What is in a PDF, as other programs see it: poppler's. Each takes the PDF's bytes, or the path of a file.
 */

const run = promisify(execFile);

/** The text in reading order. */
export function textOf(pdf: Uint8Array | string): Promise<string> {
  return withFile(pdf, async file => (await run('/usr/bin/pdftotext', ['-layout', file, '-'])).stdout);
}

export async function pagesOf(pdf: Uint8Array | string): Promise<number> {
  return Number(/^Pages:\s+(\d+)/m.exec(await infoOf(pdf))?.[1]);
}

/** The first page's size in points. */
export async function sizeOf(pdf: Uint8Array | string): Promise<{ width: number; height: number }> {
  const [, width, height] = /^Page size:\s+([\d.]+) x ([\d.]+) pts/m.exec(await infoOf(pdf)) ?? [];
  return { width: Number(width), height: Number(height) };
}

/** Embedded pictures. */
export function imagesOf(pdf: Uint8Array | string): Promise<number> {
  return withFile(pdf, async file => {
    const { stdout } = await run('/usr/bin/pdfimages', ['-list', file]);
    return stdout.split('\n').filter(line => / image /.test(line)).length;
  });
}

/** Sizes of embedded pictures in pixels, such as `640x480`. */
export function pictureSizes(pdf: Uint8Array | string): Promise<string[]> {
  return withFile(pdf, async file => {
    const { stdout } = await run('/usr/bin/pdfimages', ['-list', file]);
    return [...stdout.matchAll(/^\s*\d+\s+\d+\s+image\s+(\d+)\s+(\d+)/gm)].map(([, w, h]) => `${w}x${h}`);
  });
}

/** Addresses of links, in order. */
export function linksOf(pdf: Uint8Array | string): Promise<string[]> {
  return withFile(pdf, async file => {
    const { stdout } = await run('/usr/bin/pdfinfo', ['-url', file]);
    return [...stdout.matchAll(/^\s*\d+\s+\S+\s+(\S+)$/gm)].map(match => match[1] ?? '');
  });
}

function infoOf(pdf: Uint8Array | string): Promise<string> {
  return withFile(pdf, async file => (await run('/usr/bin/pdfinfo', [file])).stdout);
}

async function withFile<T>(pdf: Uint8Array | string, work: (file: string) => Promise<T>): Promise<T> {
  if (typeof pdf === 'string') return work(pdf);
  const folder = await mkdtemp(join(tmpdir(), 'platen-pdf-'));
  try {
    const file = join(folder, 'a.pdf');
    await writeFile(file, pdf);
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
