import type { Content } from './contents.ts';

/** Which markup a beginning is of; undefined where it is none. */
export function sniffMarkup(head: Buffer): Content | undefined {
  const text = decodeHead(head).trimStart();
  if (!text.startsWith('<')) return undefined;
  const root = rootOf(text);
  if (!root) return text.startsWith('<?xml') ? 'xml' : undefined;
  if (/^(html|head|body|table|meta|title|div|p|span|h[1-6]|font|center|style|script)$/i.test(root.name)) return 'html';
  if (/<!DOCTYPE\s+html/i.test(text)) return 'html';
  const known = ROOTS.find(([name, must]) => name.test(root.name) && must.test(root.prolog + root.tag));
  return known?.[2] ?? (text.startsWith('<?xml') || /\bxmlns\b/.test(root.tag) ? 'xml' : undefined);
}

/** Whether a beginning can be text: UTF-16 with its mark, or bytes without the controls that no text has. */
export function looksLikeText(head: Buffer): boolean {
  if (utf16Of(head)) return true;
  return !head.some(byte => byte < 0x20 && !TEXT_CONTROLS.has(byte));
}

/** Tab, line feed, vertical tab, form feed, return, the DOS end of file, and escape (old terminals' texts). */
const TEXT_CONTROLS = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1a, 0x1b]);

export function utf16Of(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return undefined;
}

function decodeHead(head: Buffer): string {
  return new TextDecoder(utf16Of(head) ?? 'utf-8').decode(head);
}

/** The first element's start tag, and what stands before it. */
function rootOf(text: string): { name: string; tag: string; prolog: string } | undefined {
  const bare = text.replace(/<!--[\s\S]*?(-->|$)/g, comment => ' '.repeat(comment.length));
  const match = /<([A-Za-z_\u0080-\uffff][^\s/>]*)/.exec(bare);
  if (!match) return undefined;
  const end = bare.indexOf('>', match.index);
  const name = (match[1] ?? '').replace(/^.*:/, '');
  return { name, tag: bare.slice(match.index, end < 0 ? undefined : end), prolog: bare.slice(0, match.index) };
}

const ROOTS: readonly (readonly [root: RegExp, must: RegExp, content: Content])[] = [
  [/^document$/, /opendocument\.text\b/, 'flat-text'],
  [/^document$/, /opendocument\.spreadsheet\b/, 'flat-sheet'],
  [/^document$/, /opendocument\.presentation\b/, 'flat-slides'],
  [/^document$/, /opendocument\.graphics\b/, 'flat-drawing'],
  [/^wordDocument$/, /office\/word\/2003\/wordml/, 'word-xml'],
  [/^Workbook$/, /schemas-microsoft-com:office:spreadsheet/, 'excel-xml'],
  [/^VisioDocument$/, /./, 'visio-xml'],
  [/^abiword$/, /./, 'abiword'],
  [/^(book|article|chapter|part|reference)$/, /docbook/i, 'docbook'],
  [/^math$/, /./, 'mathml'],
  [/^svg$/, /./, 'svg'],
  [/^UOF(_\d+)?$/i, /./, 'uof'],
];
