import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { RawForm } from './fields.ts';

/** SHA-256 over a route and all that a form says, read from disk piece by piece: the same request has the same one. */
export async function fingerprintOf(path: string, form: RawForm): Promise<string> {
  const hash = createHash('sha256');
  // As JSON, so that no value can pass for the beginning of the next one.
  hash.update(JSON.stringify([path, [...form.values]]));
  for (const { field, path: name, file, bytes } of form.files) {
    hash.update(JSON.stringify([field, name, bytes]));
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  }
  return hash.digest('hex');
}
