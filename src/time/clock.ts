/**
 * Time as a parameter. Policies take a clock, never `Date.now` or `setTimeout`, so that a test can move time by hand.
 * All times are milliseconds on a monotonic scale whose zero means nothing.
 */
export interface Clock {
  now(): number;
  /** Calls `fire` once after `ms`; the returned function cancels it. A timer alone never keeps the process alive. */
  after(ms: number, fire: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Resolves after `ms`, or rejects with the signal's reason as soon as it aborts.
 * @throws whatever `signal.reason` is
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
