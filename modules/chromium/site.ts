import { randomBytes } from 'node:crypto';
import type { VirtualSite } from '../../src/egress/egress.ts';
import type { Upload } from '../../src/http/fields.ts';

/** Where all requests live at isolation level `none`: one origin, one state. */
export const SHARED_HOST = 'platen.localhost';

/** A host name that no page can guess. Below localhost, so that the page is a secure context. */
export function unguessableHost(): string {
  return `${randomBytes(16).toString('hex')}.localhost`;
}

/**
 * The uploaded files as a web site: under their paths as sent, or, where nothing has that path, under their plain names,
 * since clients of the compatible API send all files flat. Of two with one path the later one counts.
 */
export function siteOf(uploads: readonly Upload[], index: Upload, host: string): VirtualSite {
  const byPath = new Map(uploads.map(upload => [upload.path, upload.file]));
  const byName = new Map(uploads.map(upload => [upload.name, upload.file]));
  byPath.set('index.html', index.file);
  return {
    host,
    find: path => byPath.get(path || 'index.html') ?? byName.get(path.slice(path.lastIndexOf('/') + 1)),
  };
}
