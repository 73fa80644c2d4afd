import { expect, test } from 'vitest';
import { FAILURES } from '../../src/failure/codes.ts';
import { Failure } from '../../src/failure/failure.ts';
import { failureFrom } from '../../src/failure/from-error.ts';
import { errorsPage } from '../../src/failure/print.ts';

test('docs/errors.md lists every failure (`npx vitest run test/failure -u` writes it)', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/errors.md');
});

test('whatever a client may mend is a 4xx; what may pass is a 503 or 429 with Retry-After', () => {
  for (const [code, spec] of Object.entries(FAILURES)) {
    if (spec.status === 503 || spec.status === 429) expect(spec, code).toHaveProperty('retryAfter');
    else expect(spec, code).not.toHaveProperty('retryAfter');
  }
});

test('a failure says the facts of its case', () => {
  const failure = new Failure('PDF_UNREADABLE', { file: 'a.pdf', pages: 3 });
  expect(failure.reply).toBe(
    "The PDF 'a.pdf' could not be read. Ensure that the file is complete and really is a PDF.",
  );
});

test('an error of the system becomes what it means to a client', () => {
  const full = Object.assign(new Error('write'), { code: 'EDQUOT' });
  expect(failureFrom(new Error('outer', { cause: full })).code).toBe('DISK_FULL');
  expect(failureFrom(new TypeError('bug'))).toMatchObject({ code: 'INTERNAL', cause: { message: 'bug' } });
  const failure = new Failure('FORBIDDEN');
  expect(failureFrom(failure)).toBe(failure);
  expect(failureFrom('text').code).toBe('INTERNAL');
});
