import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../failure/failure.ts';
import { distinctNames } from '../work/names.ts';
import { contentDisposition } from './content-disposition.ts';
import { contentTypeOf } from './content-types.ts';
import type { Exchange } from './exchange.ts';
import type { Output } from './route.ts';
import { zipOf } from './zip.ts';

/** An answer that is read from disk while it is sent. */
export interface FileAnswer {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Readable;
}

/**
 * Opens the answer for a route's outputs: the file itself, or a zip of several in their order.
 * @param outputName the name that the client asked for, without extension
 * @throws the system's error where an output can't be read
 */
export async function openAnswer(outputs: readonly Output[], outputName: string | undefined): Promise<FileAnswer> {
  const [first, ...others] = outputs;
  if (!first) throw new Error('the route produced no output');
  if (others.length > 0) return zipAnswer(outputs, outputName);
  const extension = extname(first.file);
  const name = outputName === undefined ? (first.name ?? `${randomUUID()}${extension}`) : outputName + extension;
  await using undo = new AsyncDisposableStack();
  const file = undo.use(await open(first.file));
  const { size } = await file.stat();
  undo.move(); // from here on the stream closes it
  return { headers: headersFor(name, first.file, size), body: file.createReadStream() };
}

async function zipAnswer(outputs: readonly Output[], outputName: string | undefined): Promise<FileAnswer> {
  const given = outputs.map(({ file, name }) => name ?? `${randomUUID()}${extname(file)}`);
  const names = distinctNames(given);
  const { body, bytes } = await zipOf(outputs.map(({ file }, index) => ({ file, name: names[index] ?? '' })));
  const name = `${outputName ?? randomUUID()}.zip`;
  return { headers: headersFor(name, name, bytes), body };
}

function headersFor(name: string, file: string, bytes: number | undefined): FileAnswer['headers'] {
  return {
    'Content-Type': contentTypeOf(file),
    'Content-Disposition': contentDisposition(name),
    ...(bytes !== undefined && { 'Content-Length': bytes }),
  };
}

/**
 * Sends an answer, as slowly as its client reads; only one that takes no byte for `stallMs` is given up.
 * @throws an Error where the connection ended before the answer, or the file can't be read on
 */
export async function sendAnswer(answer: FileAnswer, exchange: Exchange, stallMs: number): Promise<void> {
  const { outgoing } = exchange;
  // The socket's own idle time: Node takes bytes that trickle out of the kernel's buffer for activity.
  outgoing.setTimeout(stallMs, () => {
    const cause = new Error(`the client took no byte of the answer for ${stallMs} ms`);
    exchange.blame(new Failure('CLIENT_GONE', {}, { cause }));
    outgoing.destroy();
  });
  answer.body.once('error', error => exchange.blame(error));
  try {
    outgoing.writeHead(200, { ...answer.headers });
    await pipeline(answer.body, outgoing);
  } finally {
    answer.body.destroy(); // `pipeline` leaves it open where the client has gone before
  }
}
