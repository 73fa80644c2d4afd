import { type Clock, sleep } from '../time/clock.ts';
import { type Attempt, type Early, EngineCrash, type Process, type Task } from './types.ts';

/** What became of one attempt. It is only known when the work has truly ended (but for what `clean` still does). */
export type Verdict<T> =
  | { readonly kind: 'done'; readonly value: T; readonly clean: Promise<void> | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'crashed'; readonly error: Error }
  | { readonly kind: 'aborted' };

/** How long an aborted task may take to end by itself, in ms. */
export const ABORT_GRACE_MS = 500;
/** How long ending one task by narrow means may take before the whole instance goes, in ms. */
const ABANDON_MS = 1000;

interface Means {
  readonly clock: Clock;
  /** Ends the instance; settles when nothing of it is left. */
  readonly kill: () => Promise<void>;
}

/** Carries out one attempt to its end: by itself, by the engine's death, or, when its signal aborts, by force. */
export async function carryOut<P extends Process, T>(
  process: P,
  task: Task<P, T>,
  attempt: Attempt,
  means: Means,
): Promise<Verdict<T>> {
  const over = new AbortController();
  const work = settle(process, task, attempt);
  const death = process.ended.then(
    (error): Verdict<T> => ({ kind: 'crashed', error: error ?? new EngineCrash(`${attempt.instance} ended`) }),
  );
  try {
    const first = await Promise.race([work, death, abortion(attempt.signal, over.signal)]);
    if (first !== undefined) return first;
    const late = await Promise.race([work, death, pause(means.clock, ABORT_GRACE_MS, over.signal)]);
    if (late === undefined && !(await abandoned(process, attempt, means.clock, over.signal))) await means.kill();
    return { kind: 'aborted' };
  } finally {
    over.abort();
  }
}

async function settle<P extends Process, T>(process: P, task: Task<P, T>, attempt: Attempt): Promise<Verdict<T>> {
  try {
    const result = await task(process, attempt);
    return isEarly(result)
      ? { kind: 'done', value: result.result, clean: result.clean }
      : { kind: 'done', value: result, clean: undefined };
  } catch (error) {
    // An engine that is dying fails its tasks in many ways; what counts is that it is dying.
    if (error instanceof EngineCrash || !process.healthy) {
      return { kind: 'crashed', error: error instanceof Error ? error : new EngineCrash(String(error)) };
    }
    return { kind: 'failed', error };
  }
}

async function abandoned(process: Process, attempt: Attempt, clock: Clock, until: AbortSignal): Promise<boolean> {
  const told = process.abandon(attempt).catch(() => false);
  const dead = process.ended.then(() => true);
  return (await Promise.race([told, dead, pause(clock, ABANDON_MS, until)])) === true;
}

function abortion(signal: AbortSignal, until: AbortSignal): Promise<undefined> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: until });
  });
}

function pause(clock: Clock, ms: number, until: AbortSignal): Promise<undefined> {
  return sleep(clock, ms, until).then(
    () => undefined,
    () => undefined,
  );
}

function isEarly<T>(result: T | Early<T>): result is Early<T> {
  return typeof result === 'object' && result !== null && 'clean' in result && 'result' in result;
}
