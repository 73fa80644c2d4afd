import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import { Failure } from '../failure/failure.ts';
import type { ApiSettings } from '../settings/kernel-settings.ts';
import type { RunOptions } from '../supervise/types.ts';
import type { Clock } from '../time/clock.ts';
import { fileNameOf, textFromBytes } from '../work/names.ts';
import type { TempRoot } from '../work/temp-root.ts';
import type { Workspace } from '../work/workspace.ts';
import { openAnswer, sendAnswer } from './answer.ts';
import { downloadFields } from './common-fields.ts';
import type { Exchange } from './exchange.ts';
import type { RawForm } from './fields.ts';
import { fingerprintOf } from './fingerprint.ts';
import { readForm } from './form.ts';
import { checkUploadHeaders, receiveForm } from './multipart.ts';
import { orAborted, RequestSignal } from './request-signal.ts';
import type { ConversionRoute, Output } from './route.ts';
import type { Traffic } from './traffic.ts';

export interface ConversionKernel {
  readonly settings: Pick<ApiSettings, 'timeout' | 'bodyLimit' | 'disableDownloadFrom'>;
  readonly webhookDisabled: boolean;
  readonly clock: Clock;
  readonly temp: TempRoot;
  readonly traffic: Traffic;
  readonly log: Logger;
  /** ms that a client may take no byte of its answer. */
  readonly stallMs: number;
}

/**
 * The way of one conversion: upload, form, engines, answer; and its folder removed, whatever happens. Settles when
 * nothing of it is left, which may be after the answer: work that can't be stopped holds the folder, not the client.
 */
export async function serveConversion(
  route: ConversionRoute,
  exchange: Exchange,
  kernel: ConversionKernel,
): Promise<void> {
  try {
    refuseAtTheDoor(exchange.incoming.headers, kernel);
    const { clock, traffic, settings } = kernel;
    // Outlives the folder: work that is still held keeps its time limit.
    using limit = new RequestSignal({
      clock,
      timeout: settings.timeout,
      shutdown: traffic.patience,
      answer: exchange.outgoing,
    });
    // At once, since the access line of a client that has gone is written at once.
    limit.signal.addEventListener('abort', () => exchange.blame(limit.signal.reason));
    await using work = await kernel.temp.workspace();
    try {
      exchange.askForBody();
      const outputs = await orAborted(work.hold(convert(route, exchange, kernel, work, limit)), limit.signal);
      limit.answering();
      const answer = await openAnswer(outputs, outputNameOf(exchange.incoming.headers));
      await sendAnswer(answer, exchange, kernel.stallMs);
    } catch (error) {
      await exchange.fail(limit.signal.aborted ? limit.signal.reason : error);
    }
  } catch (error) {
    await exchange.fail(error);
  }
}

function refuseAtTheDoor(headers: IncomingHttpHeaders, { traffic, settings, webhookDisabled }: ConversionKernel): void {
  if (traffic.stopping) throw new Failure('SHUTTING_DOWN');
  const webhook = Object.keys(headers).find(name => name.startsWith('gotenberg-webhook-'));
  if (webhook && !webhookDisabled) throw new Failure('HEADER_PLANNED', { header: webhook });
  checkUploadHeaders(headers, { body: settings.bodyLimit });
}

async function convert(
  route: ConversionRoute,
  exchange: Exchange,
  kernel: ConversionKernel,
  work: Workspace,
  limit: RequestSignal,
): Promise<readonly Output[]> {
  const { settings } = kernel;
  const { signal } = limit;
  const raw = await receiveForm(exchange.incoming, work, { body: settings.bodyLimit }, signal);
  const form = readForm(settings.disableDownloadFrom ? route.fields : { ...downloadFields, ...route.fields }, raw);
  return route.convert(form, {
    id: exchange.id,
    signal,
    work,
    log: kernel.log.child({ log_type: 'application', correlation_id: exchange.id, path: route.path }),
    run: runOptions(route.path, raw, exchange, limit),
    outputName: outputNameOf(exchange.incoming.headers),
  });
}

function runOptions(path: string, raw: RawForm, exchange: Exchange, { signal, deadline }: RequestSignal): RunOptions {
  let fingerprint: Promise<string> | undefined;
  return {
    signal,
    deadline,
    fingerprint: () => {
      fingerprint ??= fingerprintOf(path, raw);
      return fingerprint;
    },
    trace: trace => exchange.traces.push(trace),
  };
}

/** The wanted name of the answer, without extension; undefined where none is asked for, or nothing is left of it. */
function outputNameOf(headers: IncomingHttpHeaders): string | undefined {
  const header = headers['gotenberg-output-filename'];
  return (typeof header === 'string' && fileNameOf(textFromBytes(header))) || undefined;
}
