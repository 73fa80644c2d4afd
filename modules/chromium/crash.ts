import { Failure } from '../../src/failure/failure.ts';
import { EngineCrash } from '../../src/supervise/types.ts';
import { sleep } from '../../src/time/clock.ts';
import type { Visit } from './visit.ts';

/** A tab's death is told 10 to 110 ms after it, as measured; ms. */
const TOLD_WITHIN_MS = 1000;

/** What a page is blamed for where in truth its process has died under it: the browser says the same of both. */
const AMBIGUOUS = new Set(['PAGE_TOO_LARGE', 'PAGE_LOAD_FAILED', 'PAGE_NOT_PRINTABLE', 'PRINT_SETTINGS']);

/**
 * Does the work, and looks twice before a page is blamed: only a tab that still answers can have failed by its own fault.
 * @throws EngineCrash the tab has died; else what the work throws
 */
export async function blamingFairly<T>(visit: Visit, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (visit.signal.aborted || (Failure.is(error) && !AMBIGUOUS.has(error.code))) throw error;
    await signOfLife(visit);
    throw error;
  }
}

/** @throws EngineCrash, or the signal's reason */
async function signOfLife(visit: Visit): Promise<void> {
  const answered = new AbortController();
  const late = sleep(visit.clock, TOLD_WITHIN_MS, answered.signal).catch(() => {});
  const answer = visit.send('Runtime.evaluate', { expression: '0' }).catch(error => {
    if (visit.signal.aborted || error instanceof EngineCrash) throw error;
  });
  await Promise.race([answer, late]).finally(() => answered.abort());
}
