/**
 * A signal that aborts with the first of its sources, or by itself, until it is disposed of. Unlike one of
 * `AbortSignal.any` it can be let go, so that a source that lives long keeps no trace of what was short.
 */
export class LinkedSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];

  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    this.#sources = sources.filter(source => source !== undefined);
    for (const source of this.#sources) {
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener('abort', this.#follow, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (event: Event): void => this.abort((event.target as AbortSignal).reason);
}

/** Resolves when the signal aborts; `until` ends the waiting, and then it never resolves. */
export function aborted(signal: AbortSignal, until?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, ...(until && { signal: until }) });
  });
}
