import { isUtf8 } from 'node:buffer';
import { extname } from 'node:path';

/** How much of a page is looked at to find out how it is encoded. */
export const CHARSET_WINDOW = 64 * 1024;

/**
 * The `Content-Type` of an uploaded file by its name, undefined where only its content can tell (browsers look then). No
 * charset for styles and scripts: they are read as the page that uses them is.
 */
export function mediaType(path: string): string | undefined {
  return TYPES[extname(path).slice(1).toLowerCase()];
}

/**
 * Whether a type needs a charset beside it. Browsers find UTF-8 by themselves in a page opened from disk, but never in one
 * that comes over HTTP: that they read as windows-1252 unless it says otherwise.
 */
export function wantsCharset(type: string | undefined): boolean {
  return type === 'text/html' || type === 'text/plain' || type === 'text/markdown';
}

/** Whether a page that begins like this is UTF-8 and doesn't say so itself. What a page declares always wins. */
export function isUnlabelledUtf8(head: Buffer): boolean {
  return isUtf8(wholeCharacters(head)) && !/<meta\s[^>]*charset\s*=/i.test(head.toString('latin1'));
}

/** A window may end within a character: at most three bytes of it can be inside. */
function wholeCharacters(head: Buffer): Buffer {
  if (head.length < CHARSET_WINDOW) return head;
  for (let back = 1; back <= 3; back += 1) {
    const byte = head[head.length - back] ?? 0;
    if (byte >= 0xc0) return head.subarray(0, -back);
    if (byte < 0x80) break;
  }
  return head;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
  xht: 'application/xhtml+xml',
  xml: 'text/xml',
  xsl: 'text/xsl',
  xslt: 'text/xsl',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  vtt: 'text/vtt',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  cjs: 'text/javascript',
  json: 'application/json',
  map: 'application/json',
  jsonld: 'application/ld+json',
  geojson: 'application/geo+json',
  webmanifest: 'application/manifest+json',
  wasm: 'application/wasm',
  pdf: 'application/pdf',
  svg: 'image/svg+xml',
  png: 'image/png',
  apng: 'image/apng',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  jfif: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  jxl: 'image/jxl',
  heic: 'image/heic',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  otf: 'font/otf',
  ttc: 'font/collection',
  eot: 'application/vnd.ms-fontobject',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  wav: 'audio/wav',
  flac: 'audio/flac',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  ogv: 'video/ogg',
};
