import { randomBytes } from 'node:crypto';
import type { VirtualSite } from '../../src/egress/egress.ts';

/** A file of a form as a page may ask for it. */
export interface SiteFile {
  /** The relative path as the client gave it: `img/a.png`. */
  readonly path: string;
  /** Absolute path of its content. */
  readonly file: string;
}

/** A host that nobody can guess: an origin of its own for each page, and a secure context, as browsers trust localhost. */
export function newHost(): string {
  return `${randomBytes(16).toString('hex')}.localhost`;
}

/**
 * The files of a form as a web site. What is asked for by a path that no file has is looked for by its last segment, as
 * most clients send `a.png` for the `img/a.png` of their page. Of two files of one path or name the last counts.
 */
export function siteOf(host: string, files: readonly SiteFile[]): VirtualSite {
  const byPath = new Map(files.map(({ path, file }) => [normal(path), file]));
  const byName = new Map(files.map(({ path, file }) => [lastSegment(normal(path)), file]));
  return {
    host,
    find(wanted) {
      const path = normal(wanted);
      return byPath.get(path) ?? byName.get(lastSegment(path));
    },
  };
}

/** The URL at which the site has this file. */
export function urlOf(host: string, path: string): string {
  return `http://${host}/${normal(path).split('/').map(encodeURIComponent).join('/')}`;
}

function normal(path: string): string {
  return path.replaceAll('\\', '/').normalize('NFC');
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
