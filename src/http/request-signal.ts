import type { ServerResponse } from 'node:http';
import { Failure } from '../failure/failure.ts';
import type { Clock } from '../time/clock.ts';

export interface RequestSignalOptions {
  readonly clock: Clock;
  /** ms from now to the first byte of the answer. */
  readonly timeout: number;
  /** Aborts when a shutdown's patience is at its end. */
  readonly shutdown: AbortSignal;
  /** Where the answer goes: when it closes before it is complete, the client has gone. */
  readonly answer: Pick<ServerResponse, 'writableFinished' | 'once' | 'off' | 'closed'>;
}

/**
 * The one signal of a request. Its reason is a Failure and the first cause wins: `CLIENT_GONE`, `TIME_LIMIT`,
 * `SHUTTING_DOWN`. Dispose of it when the request is over.
 */
export class RequestSignal implements Disposable {
  readonly signal: AbortSignal;
  /** When the time limit is up, on the clock, in ms. */
  readonly deadline: number;
  readonly #undo = new DisposableStack();
  readonly #stopTimer: () => void;

  constructor({ clock, timeout, shutdown, answer }: RequestSignalOptions) {
    const controller = new AbortController();
    const abort = (code: 'CLIENT_GONE' | 'TIME_LIMIT' | 'SHUTTING_DOWN') => controller.abort(new Failure(code));
    this.signal = controller.signal;
    this.deadline = clock.now() + timeout;
    this.#stopTimer = clock.after(timeout, () => abort('TIME_LIMIT'));
    this.#undo.defer(this.#stopTimer);

    const closed = () => {
      if (!answer.writableFinished) abort('CLIENT_GONE');
    };
    answer.once('close', closed);
    this.#undo.defer(() => answer.off('close', closed));
    if (answer.closed) closed();

    // By hand instead of AbortSignal.any, which leaves something behind at a signal that lives as long as the service.
    const stop = () => abort('SHUTTING_DOWN');
    shutdown.addEventListener('abort', stop, { once: true });
    this.#undo.defer(() => shutdown.removeEventListener('abort', stop));
    if (shutdown.aborted) stop();
  }

  /** The answer begins: from here on the time limit has no say. */
  answering(): void {
    this.#stopTimer();
  }

  [Symbol.dispose](): void {
    this.#undo.dispose();
  }
}

/** Rejects with the signal's reason when it aborts, else settles as `work` does. The work itself goes on. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
