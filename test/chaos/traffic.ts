import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';

/** One kind of work: what is sent, and how to tell that the answer is the right one. */
export interface Kind {
  readonly name: 'html' | 'office' | 'merge';
  readonly path: string;
  /** Parts of the form; `mark` makes each document another one. */
  parts(mark: string): readonly Part[];
}

export type Part = readonly [field: string, value: string] | readonly [field: string, name: string, content: Buffer];

/** What came of one request. Times in ms, on `performance.now()`. */
export interface Outcome {
  readonly kind: Kind['name'];
  readonly began: number;
  readonly ended: number;
  /** 0: the connection broke. */
  readonly status: number;
  readonly right: boolean;
  /** The answer's text where it is no PDF, or the connection's error. */
  readonly text: string;
}

const letter = readFileSync(new URL('../../fixtures/pdf/letter.pdf', import.meta.url));

export const KINDS: readonly Kind[] = [
  {
    name: 'html',
    path: '/forms/chromium/convert/html',
    parts: mark => [
      ['files', 'index.html', Buffer.from(`<!doctype html><link rel="stylesheet" href="s.css"><h1>${mark}</h1>`)],
      ['files', 's.css', Buffer.from('h1 { color: teal }')],
      ['waitDelay', '50ms'],
    ],
  },
  {
    name: 'office',
    path: '/forms/libreoffice/convert',
    parts: mark => [['files', 'memo.rtf', Buffer.from(`{\\rtf1 ${mark}}`)]],
  },
  {
    name: 'merge',
    path: '/forms/pdfengines/merge',
    // Bytes before the header are allowed, and make the document another one.
    parts: mark => [
      ['files', '1.pdf', Buffer.concat([letter, Buffer.from(`\n%${mark}\n`)])],
      ['files', '2.pdf', letter],
    ],
  },
];

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const BOUNDARY = 'platen-chaos-boundary';

/** Sends one request and reads its answer. `leaveAfterMs`: the client goes away then. */
export function send(
  url: string,
  path: string,
  parts: readonly Part[],
  options: { readonly id: string; readonly leaveAfterMs?: number },
): Promise<{ status: number; body: Buffer; error: string }> {
  const body = bodyOf(parts);
  return new Promise(resolve => {
    const outgoing = request(url + path, {
      method: 'POST',
      agent,
      headers: {
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'content-length': body.length,
        'gotenberg-trace': options.id,
      },
    });
    const leave =
      options.leaveAfterMs === undefined ? undefined : setTimeout(() => outgoing.destroy(), options.leaveAfterMs);
    const done = (status: number, content: Buffer, error = '') => {
      clearTimeout(leave);
      resolve({ status, body: content, error });
    };
    outgoing.on('error', error => done(0, Buffer.alloc(0), error.message));
    outgoing.on('response', answer => {
      read(answer).then(
        content => done(answer.statusCode ?? 0, content),
        error => done(0, Buffer.alloc(0), String(error)),
      );
    });
    outgoing.end(body);
  });
}

/** One well-behaved request, judged: a PDF that begins and ends like one. */
export async function converse(url: string, kind: Kind, mark: string): Promise<Outcome> {
  const began = performance.now();
  const { status, body, error } = await send(url, kind.path, kind.parts(mark), { id: mark });
  const isPdf = body.subarray(0, 5).toString() === '%PDF-' && body.subarray(-1024).includes('%%EOF');
  return {
    kind: kind.name,
    began,
    ended: performance.now(),
    status,
    right: status === 200 && isPdf,
    text: error || (isPdf ? '' : body.subarray(0, 200).toString()),
  };
}

export function closeConnections(): void {
  agent.destroy();
}

function bodyOf(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(([field, value, content]) => [
    Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${field}"${
        content === undefined ? '' : `; filename="${value}"`
      }\r\n\r\n`,
    ),
    content ?? Buffer.from(value),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

async function read(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
