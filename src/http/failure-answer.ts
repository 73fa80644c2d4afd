import { STATUS_CODES } from 'node:http';
import type { Failure } from '../failure/failure.ts';

/** An answer whose body fits into memory: an error, or next to nothing. */
export interface ShortAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const PROBLEM = 'application/problem+json';

/**
 * What a client is told of a failure: the text of the compatible API, or RFC 9457 where its Accept header asks for that.
 * The failure's cause and its other facts stay in the log.
 */
export function failureAnswer(failure: Failure, request: { accept: string | undefined; id: string }): ShortAnswer {
  const { status, retryAfter } = failure.spec;
  const retry: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  if (!asksForProblem(request.accept)) {
    return { status, headers: { 'Content-Type': 'text/plain; charset=UTF-8', ...retry }, body: failure.reply };
  }
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: failure.reply,
    code: failure.code,
    requestId: request.id,
    ...shownFacts(failure),
    ...(retryAfter !== undefined && { retryAfter }),
  };
  return { status, headers: { 'Content-Type': PROBLEM, ...retry }, body: JSON.stringify(problem) };
}

function asksForProblem(accept = ''): boolean {
  return accept.split(',').some(range => {
    const [type, ...parameters] = range.split(';').map(part => part.trim().toLowerCase());
    return type === PROBLEM && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** The facts that stand in the text anyway, by name; a form's problems as a list. */
function shownFacts({ spec, facts }: Failure): Record<string, unknown> {
  const names = [...spec.reply.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '');
  return Object.fromEntries(
    names
      .filter(name => facts[name] !== undefined)
      .map(name => [name, name === 'problems' ? String(facts[name]).split('\n') : facts[name]]),
  );
}
