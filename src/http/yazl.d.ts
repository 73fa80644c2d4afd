/** The part of yazl that we use; the package has no types of its own. */
declare module 'yazl' {
  import type { EventEmitter } from 'node:events';
  import type { Readable } from 'node:stream';

  interface EntryOptions {
    readonly compress: false;
    /** Known sizes make the size of the whole archive known. */
    readonly size: number;
    readonly mtime?: Date;
    readonly mode?: number;
  }

  export class ZipFile extends EventEmitter {
    readonly outputStream: Readable;
    addReadStreamLazy(
      name: string,
      options: EntryOptions,
      open: (give: (error: Error | null, content: Readable) => void) => void,
    ): void;
    end(told: (totalBytes: number) => void): void;
  }
}
