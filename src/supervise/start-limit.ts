import type { Clock } from '../time/clock.ts';
import { LinkedSignal } from './linked-signal.ts';
import type { Worker } from './types.ts';

/** A start that was not through within its time. */
export class StartTimedOut extends Error {
  override readonly name = 'StartTimedOut';
}

/**
 * Starts a worker with a signal that aborts with the given one and, if there is a limit, when so many ms are over. A
 * worker that turns up after its time is ended, not used.
 * @throws StartTimedOut; the start's own error
 */
export async function startWithin(
  limitMs: number | undefined,
  id: string,
  start: (signal: AbortSignal) => Promise<Worker>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Worker> {
  using either = new LinkedSignal(signal);
  let late: StartTimedOut | undefined;
  const expire = () => {
    late = new StartTimedOut(`${id} was not ready within ${limitMs} ms. Raise its start timeout if it is slow.`);
    either.abort(late);
  };
  const cancel = limitMs === undefined ? () => {} : clock.after(limitMs, expire);
  const worker = await (async () => start(either.signal))()
    .catch(error => Promise.reject(late ?? error))
    .finally(cancel);
  if (!late) return worker;
  worker.kill();
  await worker.wait().catch(() => {});
  throw late;
}
