import { type Clock, sleep } from '../time/clock.ts';
import type { Instance } from './instance.ts';
import { aborted, LinkedSignal } from './linked-signal.ts';
import { type Attempt, type Early, EngineCrash, type Process, type Task } from './types.ts';

/** What became of one attempt. Known only when the work has truly ended, but for what `clean` still does. */
export type Verdict<T> =
  | { readonly kind: 'done'; readonly value: T; readonly clean: Promise<void> | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'crashed'; readonly error: Error }
  | { readonly kind: 'aborted'; readonly clean: Promise<void> | undefined };

/** How long a task whose signal has aborted, or whose instance has died, may take to end by itself, in ms. */
const GRACE_MS = 500;
/** How long ending one task by narrow means may take before the whole instance goes, in ms. */
const ABANDON_MS = 1000;

export interface AttemptSpec {
  readonly id: string;
  readonly number: 1 | 2;
  /** The task's deadline, its client's leaving, and shutdown's bound. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  retire(reason: string): void;
  /** Ends the instance; settles when nothing of it is left. */
  kill(): Promise<void>;
}

/** Carries out one attempt to its end: by itself, by the instance's death, or, when its signal aborts, by force. */
export async function carryOut<P extends Process, T>(
  instance: Instance<P>,
  task: Task<P, T>,
  { id, number, signal, clock, retire, kill }: AttemptSpec,
): Promise<Verdict<T>> {
  const over = new AbortController();
  using own = new LinkedSignal(signal, instance.death);
  const attempt: Attempt = { id, instance: instance.id, number, signal: own.signal, retireInstance: retire };
  const work = settle(instance.process, task, attempt);
  try {
    const first = await Promise.race([work, aborted(own.signal, over.signal)]);
    if (first) return first;
    const late = await Promise.race([work, after(clock, GRACE_MS, over.signal)]);
    if (!late && !instance.death.aborted) {
      const means = [abandoned(instance.process, attempt), work, aborted(instance.death, over.signal).then(() => true)];
      if (!(await Promise.race([...means, after(clock, ABANDON_MS, over.signal)]))) await kill();
    }
    if (!signal.aborted) return late?.kind === 'done' ? late : crashed(instance.death.reason);
    return { kind: 'aborted', clean: late?.kind === 'done' ? late.clean : undefined };
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
    if (error instanceof EngineCrash || !process.healthy) return crashed(error);
    return { kind: 'failed', error };
  }
}

function crashed(error: unknown): { kind: 'crashed'; error: Error } {
  return { kind: 'crashed', error: error instanceof Error ? error : new EngineCrash(String(error)) };
}

async function abandoned(process: Process, attempt: Attempt): Promise<boolean> {
  try {
    return await process.abandon(attempt);
  } catch {
    return false;
  }
}

/** Undefined after so many ms, or as soon as nobody waits any more. */
function after(clock: Clock, ms: number, until: AbortSignal): Promise<undefined> {
  return sleep(clock, ms, until).then(
    () => undefined,
    () => undefined,
  );
}

function isEarly<T>(result: T | Early<T>): result is Early<T> {
  return typeof result === 'object' && result !== null && 'clean' in result && 'result' in result;
}
