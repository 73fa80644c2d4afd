import { createWriteStream } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import busboy from 'busboy';
import { Failure } from '../failure/failure.ts';
import { diskExtension, fileNameOf, relativePathOf, textFromBytes } from '../work/names.ts';
import type { Workspace } from '../work/workspace.ts';
import type { RawForm, Upload } from './fields.ts';

export interface UploadLimits {
  /** Bytes that files and values may hold together; 0 means any number. */
  readonly body: number;
}

const MOST_PARTS = 1000;
const MOST_VALUE_BYTES = 10 * 1024 * 1024;
/** What boundaries, part headers and dropped parts may take beside the content that the body limit counts. */
const MOST_FRAMING_BYTES = 2 * 1024 * 1024;

/**
 * Refuses what its headers already condemn, before a byte of the body is read.
 * @throws Failure `NOT_MULTIPART`, `NO_BOUNDARY`, `BODY_TOO_LARGE`
 */
export function checkUploadHeaders(headers: IncomingHttpHeaders, limits: UploadLimits): void {
  const type = headers['content-type'] ?? '';
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(type)) throw new Failure('NOT_MULTIPART');
  if (!/;\s*boundary\s*=\s*("[^"]|[^"\s;])/i.test(type)) throw new Failure('NO_BOUNDARY');
  const length = Number(headers['content-length'] ?? 0);
  if (limits.body > 0 && length > limits.body + MOST_FRAMING_BYTES) throw new Failure('BODY_TOO_LARGE');
}

/**
 * Receives a form: every file goes straight to its place in the workspace, values are kept. Stops at once, mid-upload,
 * when a limit is passed or the signal aborts; what is left of the body is then still to be read by the caller. Settles
 * only when no file is open any more.
 * @throws Failure `BODY_TOO_LARGE`, `BODY_MALFORMED`, `TOO_MANY_PARTS`, `VALUES_TOO_LARGE`
 * @throws the system's error where a file can't be written; the signal's reason
 */
export async function receiveForm(
  request: IncomingMessage,
  work: Workspace,
  limits: UploadLimits,
  signal: AbortSignal,
): Promise<RawForm> {
  checkUploadHeaders(request.headers, limits);
  signal.throwIfAborted();
  const reception = new Reception(work, limits);
  const abort = () => reception.fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await reception.of(request);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** One form on its way in. */
class Reception {
  readonly #work: Workspace;
  readonly #limits: UploadLimits;
  readonly #values: { readonly name: string; value: string }[] = [];
  readonly #files: Upload[] = [];
  readonly #pending: Promise<void>[] = [];
  readonly #open = new Set<Readable>();
  readonly #over = Promise.withResolvers<void>();
  #failed = false;
  #parts = 0;
  #valueBytes = 0;
  #contentBytes = 0;
  #receivedBytes = 0;

  constructor(work: Workspace, limits: UploadLimits) {
    this.#work = work;
    this.#limits = limits;
  }

  async of(request: IncomingMessage): Promise<RawForm> {
    const parser = createParser(request.headers);
    parser.on('field', (name, value, info) => this.#takeValue(name, value, info.valueTruncated));
    parser.on('file', (name, content, info) => this.#takeFile(name, content, info.filename));
    parser.on('partsLimit', () => this.fail(new Failure('TOO_MANY_PARTS', { limit: MOST_PARTS })));
    parser.on('error', cause => this.fail(new Failure('BODY_MALFORMED', {}, { cause })));
    parser.on('close', () => this.#over.resolve());
    const count = (chunk: Buffer) => this.#countReceived(chunk.length);
    request.on('data', count);
    // Not `pipeline`: it would end the connection with the upload, and the client would never hear why.
    request.pipe(parser);
    try {
      await this.#over.promise;
      await Promise.all(this.#pending);
    } catch (error) {
      this.fail(error);
      throw error;
    } finally {
      request.off('data', count).unpipe(parser);
      parser.destroy();
      await Promise.allSettled(this.#pending);
    }
    return { values: grouped(this.#values), files: this.#files };
  }

  /** Ends the reception with this error; the first one counts. */
  fail(error: unknown): void {
    this.#failed = true;
    this.#over.reject(error);
    for (const content of this.#open) content.destroy();
  }

  #takeValue(nameBytes: string | undefined, value: string | undefined, cut: boolean): void {
    if (!this.#admitPart() || !nameBytes) return;
    const name = textFromBytes(nameBytes);
    if (value === undefined) {
      const problems = `form field '${name}' comes in a character set that is not supported; send it as UTF-8`;
      this.fail(new Failure('FORM_INVALID', { problems }));
    } else if (this.#countValue(Buffer.byteLength(name) + (cut ? MOST_VALUE_BYTES : Buffer.byteLength(value)))) {
      this.#values.push({ name, value });
    }
  }

  #takeFile(nameBytes: string | undefined, content: Readable, fileNameBytes: string | undefined): void {
    this.#open.add(content);
    content.once('close', () => this.#open.delete(content));
    content.on('error', () => {}); // the parser says it too
    if (!this.#admitPart() || !nameBytes) content.resume();
    else if (fileNameBytes === undefined) this.#await(this.#keep(textFromBytes(nameBytes), content));
    else this.#await(this.#write(textFromBytes(nameBytes), textFromBytes(fileNameBytes), content));
  }

  /** busboy takes a part of type application/octet-stream for a file; without a file name it is a value. */
  async #keep(name: string, content: Readable): Promise<void> {
    const entry = { name, value: '' };
    this.#values.push(entry);
    this.#countValue(Buffer.byteLength(name));
    const chunks: Buffer[] = [];
    content.on('data', (chunk: Buffer) => this.#countValue(chunk.length) && chunks.push(chunk));
    await completed(content, content);
    entry.value = Buffer.concat(chunks).toString();
  }

  async #write(field: string, given: string, content: Readable): Promise<void> {
    const name = fileNameOf(given);
    const file = this.#work.next(diskExtension(name));
    const upload = { field, name, path: relativePathOf(given), file, bytes: 0 };
    this.#files.push(upload);
    const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
    content.on('data', (chunk: Buffer) => this.#countContent(chunk.length));
    content.once('close', () => content.readableEnded || target.destroy());
    content.pipe(target);
    await completed(content, target);
    upload.bytes = target.bytesWritten;
  }

  #await(work: Promise<void>): void {
    this.#pending.push(work);
    work.catch(error => this.fail(error));
  }

  #admitPart(): boolean {
    this.#parts += 1;
    if (this.#parts > MOST_PARTS) this.fail(new Failure('TOO_MANY_PARTS', { limit: MOST_PARTS }));
    return !this.#failed;
  }

  #countValue(bytes: number): boolean {
    this.#valueBytes += bytes;
    const fits = this.#valueBytes <= MOST_VALUE_BYTES;
    if (!fits) this.fail(new Failure('VALUES_TOO_LARGE', { limit: MOST_VALUE_BYTES }));
    this.#countContent(bytes);
    return fits;
  }

  #countContent(bytes: number): void {
    this.#contentBytes += bytes;
    this.#refuseBeyond(this.#contentBytes, this.#limits.body);
  }

  #countReceived(bytes: number): void {
    this.#receivedBytes += bytes;
    this.#refuseBeyond(this.#receivedBytes, this.#limits.body + MOST_FRAMING_BYTES);
  }

  #refuseBeyond(bytes: number, limit: number): void {
    if (this.#limits.body > 0 && bytes > limit) this.fail(new Failure('BODY_TOO_LARGE'));
  }
}

/** Names come as they are, a character a byte, with their folders; a value is never cut without a word. */
function createParser(headers: IncomingHttpHeaders): busboy.Busboy {
  const limits = { fieldSize: MOST_VALUE_BYTES + 1, parts: MOST_PARTS + 1 };
  try {
    return busboy({ headers, preservePath: true, defParamCharset: 'latin1', limits });
  } catch (cause) {
    throw new Failure('NO_BOUNDARY', {}, { cause });
  }
}

/** Waits until `target` has all of a part; a part that breaks off is the body's fault. */
async function completed(content: Readable, target: Readable | Writable): Promise<void> {
  try {
    await finished(target, { cleanup: true });
  } catch (cause) {
    const brokeOff = !content.readableEnded && (target === content || !(target as Writable).errored);
    throw brokeOff ? new Failure('BODY_MALFORMED', {}, { cause }) : cause;
  }
}

function grouped(values: readonly { name: string; value: string }[]): Map<string, string[]> {
  const byName = Map.groupBy(values, ({ name }) => name);
  return new Map([...byName].map(([name, entries]) => [name, entries.map(({ value }) => value)]));
}
