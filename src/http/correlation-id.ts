import { randomUUID } from 'node:crypto';

/** The id that a request brings along, if it is fit for a header and a log; else a new one. */
export function correlationId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\x21-\x7e][\x20-\x7e]{0,199}$/.test(given) ? given : randomUUID();
}
