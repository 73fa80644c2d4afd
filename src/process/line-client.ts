import { createInterface } from 'node:readline';
import { EngineCrash } from '../supervise/types.ts';
import type { Child } from './child.ts';

/** What a worker answers where it could not do a task. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  /** One of the codes that the worker's own protocol declares. */
  readonly code: string;
  readonly facts: Readonly<Record<string, string>>;

  constructor(code: string, facts: Readonly<Record<string, string>>, detail: string) {
    super(detail || code);
    this.code = code;
    this.facts = facts;
  }
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * Speaks our small protocol with a worker: one JSON object a line on its stdin and stdout.
 * We send `{"id": 1, "do": "merge", …}`; it answers `{"id": 1, "ok": …}` or
 * `{"id": 1, "error": {"code": "…", "facts": {…}, "detail": "…"}}`. Before its first task it says `{"ready": {…}}` once.
 */
export class LineClient {
  readonly #child: Child;
  readonly #pending = new Map<number, Pending>();
  readonly #ready = Promise.withResolvers<unknown>();
  #lastId = 0;

  constructor(child: Child) {
    this.#child = child;
    this.#ready.promise.catch(() => {});
    createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', line => this.#take(line));
    void child.ended.then(ending => {
      const last = ending.lastLines.slice(-5).join('\n');
      this.#fail(new EngineCrash(`ended (code ${ending.exitCode}, signal ${ending.signal})${last && `: ${last}`}`));
    });
  }

  /** What the worker said of itself when it became ready. Rejects with EngineCrash if it ends before. */
  get ready(): Promise<unknown> {
    return this.#ready.promise;
  }

  /**
   * Has the worker do one thing.
   * @throws WorkerError what the worker answered
   * @throws EngineCrash the worker ended before it answered
   */
  call<T>(verb: string, params: object = {}): Promise<T> {
    const id = ++this.#lastId;
    return new Promise<T>((resolve, reject) => {
      if (!this.#child.running) return reject(new EngineCrash('has ended'));
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, do: verb, ...params })}\n`);
    });
  }

  #take(line: string): void {
    const message = parse(line);
    if (!message) return;
    if ('ready' in message) {
      this.#ready.resolve(message.ready);
      return;
    }
    const pending = this.#pending.get(message.id ?? 0);
    if (!pending) return;
    this.#pending.delete(message.id ?? 0);
    if (message.error) {
      pending.reject(new WorkerError(message.error.code, message.error.facts ?? {}, message.error.detail ?? ''));
    } else pending.resolve(message.ok);
  }

  #fail(error: Error): void {
    this.#ready.reject(error);
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }
}

interface Message {
  id?: number;
  ready?: unknown;
  ok?: unknown;
  error?: { code: string; facts?: Record<string, string>; detail?: string };
}

/** A line that is no message (a library that prints to stdout) is passed over. */
function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
