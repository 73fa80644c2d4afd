import { Failure } from './failure.ts';

/** The system's ways to say that there is no room left: the disk is full, or a quota is used up. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT']);

/** What to tell a client of any error: its own Failure, or what the system's error means to it. The rest is ours. */
export function failureFrom(error: unknown): Failure {
  if (Failure.is(error)) return error;
  if (causesOf(error).some(cause => NO_ROOM.has(codeOf(cause)))) return new Failure('DISK_FULL', {}, { cause: error });
  return new Failure('INTERNAL', {}, { cause: error });
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause !== undefined && causes.length < 10; cause = (cause as { cause?: unknown })?.cause) {
    causes.push(cause);
  }
  return causes;
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
