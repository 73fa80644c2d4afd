import { Failure } from '../../src/failure/failure.ts';
import { WorkerError } from '../../src/process/line-client.ts';
import { ENGINE_NAME } from './settings.ts';

/** What the bridge's error is to the client; anything else as it came. */
export function failureOf(error: unknown, document: { name: string; pageRanges: string }): unknown {
  const cause = { cause: error };
  if (isFull(error)) return new Failure('DISK_FULL', {}, cause);
  if (!(error instanceof WorkerError)) return error;
  const file = document.name;
  switch (error.code) {
    case 'UNREADABLE':
      return new Failure('OFFICE_UNREADABLE', { file }, cause);
    case 'NOT_CONVERTIBLE':
      return new Failure('OFFICE_NOT_CONVERTIBLE', { file }, cause);
    case 'PASSWORD_REQUIRED':
      return new Failure('OFFICE_PASSWORD_REQUIRED', { file }, cause);
    case 'PASSWORD_WRONG':
      return new Failure('OFFICE_PASSWORD_WRONG', { file }, cause);
    case 'PASSWORD_UNNEEDED':
      return new Failure('OFFICE_PASSWORD_UNNEEDED', { file }, cause);
    case 'PAGE_RANGES':
      return new Failure('OFFICE_PAGE_RANGES', { file, ranges: document.pageRanges }, cause);
    case 'MEMORY':
      return new Failure('MEMORY_LIMIT', { engine: ENGINE_NAME }, cause);
    case 'DISK_FULL':
      return new Failure('DISK_FULL', {}, cause);
    default:
      return error;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
