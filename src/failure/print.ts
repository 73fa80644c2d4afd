import { FAILURES, type FailureSpec } from './codes.ts';

/** The page `docs/errors.md`. */
export function errorsPage(): string {
  const parts = [
    '# Errors',
    '',
    'Every answer that is no success, by its code. The body is the text, as `text/plain`; words in braces stand for the facts of the case.',
    'A client that sends `Accept: application/problem+json` gets RFC 9457 instead, with the code as `code` and the id of the request',
    'as `requestId`. Where trying again may help, the answer has a `Retry-After` header.',
    '',
    'This page is made from the table of failures (`npx vitest run test/failure -u` writes it anew).',
  ];
  for (const [code, spec] of Object.entries(FAILURES) as [string, FailureSpec][]) {
    const retry = spec.retryAfter === undefined ? '' : `, retry after ${spec.retryAfter} s`;
    parts.push('', `## \`${code}\``, '', `Status ${spec.status}${retry}.`);
    parts.push('', spec.reply === '' ? 'In the log only: nobody is left to be told.' : `> ${spec.reply}`);
  }
  return `${parts.join('\n')}\n`;
}
