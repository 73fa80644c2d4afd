import { createReadStream } from 'node:fs';
import { utf16Of } from './sniff-text.ts';

/** How a file of text is to be read. */
export interface TextFacts {
  readonly encoding: 'utf-8' | 'utf-16' | 'windows-1252';
  /** For rows: what stands between cells. */
  readonly separator: string;
  /** The line with the first row, from 1: the second where the first only names the separator, as Excel writes it. */
  readonly firstLine: 1 | 2;
}

const SEPARATORS = [',', ';', '\t', '|'];
const HEAD_BYTES = 64 * 1024;

/**
 * Looks through a text for its encoding, and at its first lines for their separator. LibreOffice by itself takes UTF-8 rows
 * for Windows-1252 (7.4), other text for UTF-16 (a few bytes) or for UTF-8 in spite of errors, and every separator for a comma.
 */
export async function textFacts(path: string): Promise<TextFacts> {
  let head = Buffer.alloc(0);
  let encoding: TextFacts['encoding'] = 'utf-8';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES)]);
      if (utf16Of(head)) break;
      decoder.decode(piece, { stream: true });
    }
    if (!utf16Of(head)) decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    encoding = 'windows-1252';
  }
  const marked = utf16Of(head);
  if (marked) encoding = 'utf-16';
  return { encoding, ...rowsOf(new TextDecoder(marked ?? encoding).decode(head)) };
}

/** The separator that divides the first lines, outside of quotes, into the same number of cells, and into the most. */
export function rowsOf(text: string): Pick<TextFacts, 'separator' | 'firstLine'> {
  const declared = /^sep=(.)\r?\n/.exec(text)?.[1];
  if (declared) return { separator: declared, firstLine: 2 };
  const lines = text
    .replace(/"[^"]*"/g, '')
    .split(/\r\n|\r|\n/)
    .filter(line => line !== '')
    .slice(0, 20);
  let best = { separator: ',', score: 0 };
  for (const separator of SEPARATORS) {
    const counts = lines.map(line => line.split(separator).length - 1);
    const fewest = Math.min(...counts);
    const even = counts.every(count => count === counts[0]);
    const score = (lines.length === 0 ? 0 : fewest) * (even ? 10 : 1);
    if (score > best.score) best = { separator, score };
  }
  return { separator: best.separator, firstLine: 1 };
}

/** The import options of LibreOffice's filters for text: names of encodings for lines, their numbers for rows. */
export function filterOptions(reads: 'lines' | 'rows', facts: TextFacts): string {
  if (reads === 'lines')
    return `${{ 'utf-8': 'UTF8', 'utf-16': 'UCS2', 'windows-1252': 'MS_1252' }[facts.encoding]},LF,,,`;
  const charset = { 'utf-8': 76, 'utf-16': 65535, 'windows-1252': 1 }[facts.encoding];
  return `${facts.separator.codePointAt(0)},34,${charset},${facts.firstLine}`;
}
