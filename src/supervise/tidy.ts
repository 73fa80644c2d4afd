import { type Clock, sleep } from '../time/clock.ts';
import { aborted } from './linked-signal.ts';

/** How long cleaning a slot may take, in ms, before its instance is replaced instead. */
const CLEAN_MS = 10_000;

/** Waits until a slot is clean. `late`: it isn't, and nobody knows whether it will ever be. */
export async function cleaned(
  clean: Promise<void>,
  death: AbortSignal,
  clock: Clock,
): Promise<'clean' | 'failed' | 'late'> {
  const over = new AbortController();
  try {
    return await Promise.race([
      clean.then(() => 'clean' as const),
      aborted(death, over.signal).then(() => 'failed' as const),
      sleep(clock, CLEAN_MS, over.signal).then(() => 'late' as const),
    ]);
  } catch {
    return 'failed';
  } finally {
    over.abort();
  }
}
