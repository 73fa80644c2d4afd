import { FAILURES, type FailureCode, type FailureSpec } from './codes.ts';

export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A failure that a client may be told of. Its code says everything that an answer needs; its facts fill the text's
 * places or stay in the log; its cause is for the log only.
 */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly facts: Facts;

  constructor(code: FailureCode, facts: Facts = {}, options?: { cause?: unknown }) {
    super(fill(FAILURES[code].reply, facts) || code, options);
    this.name = 'Failure';
    this.code = code;
    this.facts = facts;
  }

  get spec(): FailureSpec {
    return FAILURES[this.code];
  }

  /** The body of the answer. */
  get reply(): string {
    return fill(this.spec.reply, this.facts);
  }

  static is(error: unknown, code?: FailureCode): error is Failure {
    return error instanceof Failure && (code === undefined || error.code === code);
  }
}

function fill(text: string, facts: Facts): string {
  return text.replace(/\{(\w+)\}/g, (place, name) => String(facts[name] ?? place));
}
