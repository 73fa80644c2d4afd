import { type FileHandle, open } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { unescape as percentDecoded } from 'node:querystring';
import { pipeline } from 'node:stream/promises';
import type { VirtualSite } from './egress.ts';
import { CHARSET_WINDOW, isUnlabelledUtf8, mediaType, wantsCharset } from './media-types.ts';

/** Files up to here go out in one write, larger ones in pieces of this size. */
const IN_ONE_PIECE = 256 * 1024;

/**
 * Answers a request for a file of the site. `tell` hears the status before the browser does.
 * @throws what reading the file throws; an answer that has begun is then cut
 */
export async function answerFromSite(
  request: IncomingMessage,
  response: ServerResponse,
  { site, pathname, tell }: { site: VirtualSite; pathname: string; tell: (status: number) => void },
): Promise<void> {
  const say = (status: number, headers: Record<string, string | number>, body?: Buffer | string): void => {
    tell(status);
    response.writeHead(status, STATUS_CODES[status], { 'cache-control': 'no-store', ...headers });
    if (body !== undefined) response.end(request.method === 'HEAD' ? undefined : body);
  };
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return say(405, { allow: 'GET, HEAD', 'content-length': 0 }, '');

  const wanted = decodedPath(pathname);
  const path = wanted === undefined ? undefined : site.find(wanted);
  const handle = path === undefined ? undefined : await openFile(path);
  if (path === undefined || handle === undefined) return say(404, PLAIN, notFound(wanted ?? pathname));
  await using _file = handle;

  const stats = await handle.stat();
  if (!stats.isFile()) return say(404, PLAIN, notFound(wanted ?? pathname));
  const { size } = stats;
  const range = rangeOf(request.headers.range, size);
  if (range === 'outside') return say(416, { 'content-range': `bytes */${size}`, 'content-length': 0 }, '');
  const { start, end } = range ?? { start: 0, end: size };

  const whole = size <= IN_ONE_PIECE ? await read(handle, 0, size) : undefined;
  const type = await typeOf(path, handle, whole);
  const headers = {
    ...(type && { 'content-type': type }),
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    'accept-ranges': 'bytes',
    'content-length': end - start,
  };
  const status = range ? 206 : 200;
  if (whole) return say(status, headers, whole.subarray(start, end));
  say(status, headers);
  if (request.method === 'HEAD') return void response.end();
  await pipeline(
    handle.createReadStream({ start, end: end - 1, autoClose: false, highWaterMark: IN_ONE_PIECE }),
    response,
  );
}

/** The path within the site, or undefined for one that could mean a file outside: nobody writes such a one in good faith. */
function decodedPath(pathname: string): string | undefined {
  // Leaves alone what is no escape, so that `100%.png` is found.
  const path = percentDecoded(pathname.slice(1));
  const outside = path.startsWith('/') || path.includes('\0') || path.split('/').includes('..');
  return outside ? undefined : path;
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (GONE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

const GONE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG']);

async function typeOf(path: string, handle: FileHandle, whole: Buffer | undefined): Promise<string | undefined> {
  const type = mediaType(path);
  if (!wantsCharset(type)) return type;
  const head = whole?.subarray(0, CHARSET_WINDOW) ?? (await read(handle, 0, CHARSET_WINDOW));
  return isUnlabelledUtf8(head) ? `${type}; charset=utf-8` : type;
}

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** One range, as media players ask for; several in one request are answered with the whole file, which is allowed. */
function rangeOf(header: string | undefined, size: number): { start: number; end: number } | 'outside' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1);
  if (from !== '' && to !== '' && Number(to) < start) return undefined;
  return start >= size ? 'outside' : { start, end };
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };

function notFound(path: string): string {
  return `There is no file '${path.slice(0, 200)}' among those that were sent with this request.`;
}
