import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { RunOptions } from '../supervise/types.ts';
import type { Workspace } from '../work/workspace.ts';
import type { FieldTable, FormOf } from './fields.ts';

export type Route = PlainRoute | ConversionRoute;

/** A route that answers by itself: health, version, metrics. */
export interface PlainRoute {
  readonly kind: 'plain';
  readonly method: 'GET';
  /** Under the root path, with its leading slash. */
  readonly path: string;
  readonly summary: string;
  /** Whether HEAD is answered too. */
  readonly head?: boolean;
  /** Whether requests to it are left out of the access log (probes). */
  readonly quiet?: boolean;
  handle(context: Context): Response | Promise<Response>;
}

/**
 * A route that takes a multipart form and answers with files. The kernel receives the upload, reads the form by the
 * table, sets the deadline, sends the answer and removes the folder; the module only says what to make.
 */
export interface ConversionRoute<T extends FieldTable = FieldTable> {
  readonly kind: 'conversion';
  readonly path: string;
  readonly summary: string;
  readonly fields: T;
  /** Refuses what can be refused, then converts. Outputs come in the order of the answer. */
  convert(form: FormOf<T>, request: ConversionRequest): Promise<readonly Output[]>;
}

export interface Output {
  /** Absolute path, inside the request's workspace. */
  readonly file: string;
  /**
   * The name for the answer or the zip entry, such as `report.docx.pdf`. Absent: a random one. The header
   * `Gotenberg-Output-Filename` overrules it where there is one output.
   */
  readonly name?: string;
}

export interface ConversionRequest {
  /** The correlation id. */
  readonly id: string;
  /** Aborts at the deadline, when the client has gone, or at the end of a shutdown's patience. */
  readonly signal: AbortSignal;
  readonly work: Workspace;
  readonly log: Logger;
  /** What every `supervisor.run` of this request is given: signal, deadline, fingerprint, trace. */
  readonly run: RunOptions;
  /** Value of `Gotenberg-Output-Filename`, sanitised, without extension; undefined if absent. */
  readonly outputName: string | undefined;
}

/** Keeps the types of a route's fields through to its `convert`. */
export function defineConversion<T extends FieldTable>(route: Omit<ConversionRoute<T>, 'kind'>): Route {
  return { kind: 'conversion', ...route } as unknown as Route;
}
