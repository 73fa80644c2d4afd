import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The folder of one request: its uploads and whatever is made from them. It is removed when the request is over and
 * everything that still works in it has ended, also when the client has gone.
 */
export class Workspace {
  readonly path: string;
  readonly #held = new Set<Promise<unknown>>();
  #names = 0;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(path: string): Promise<Workspace> {
    await mkdir(path, { mode: 0o700 });
    return new Workspace(path);
  }

  /** A path in this folder that nobody has had yet, ending in `extension` (with its dot). */
  next(extension: string): string {
    this.#names += 1;
    return join(this.path, `${this.#names}${extension}`);
  }

  /** The folder stays at least until `work` has settled. Gives `work` back. */
  hold<T>(work: Promise<T>): Promise<T> {
    this.#held.add(work);
    const release = () => this.#held.delete(work);
    work.then(release, release);
    return work;
  }

  /** Waits for all that is held, then removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#held.size > 0) await Promise.allSettled(this.#held);
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 });
  }
}
