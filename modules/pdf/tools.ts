import { rm } from 'node:fs/promises';
import type { PdfPlan, PdfTools } from '../../src/capability/capabilities.ts';
import { Failure } from '../../src/failure/failure.ts';
import { WorkerError } from '../../src/process/line-client.ts';
import type { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import { ENGINE_NAME } from './settings.ts';
import type { PdfWorker } from './worker.ts';

/** Work on PDFs through the supervised workers. */
export function pdfTools(supervisor: Pick<ProcessSupervisor<PdfWorker>, 'run'>): PdfTools {
  return {
    apply: (plan, options) =>
      supervisor.run(async (worker, attempt) => {
        if (attempt.number > 1) await rm(plan.output, { force: true });
        try {
          await worker.apply(plan);
        } catch (error) {
          const failure = failureOf(error, plan);
          if (Failure.is(failure, 'MEMORY_LIMIT')) attempt.retireInstance('memory');
          throw failure;
        }
      }, options),
  };
}

/** What a worker's error is to the client; anything else as it came. */
export function failureOf(error: unknown, plan: PdfPlan): unknown {
  if (!(error instanceof WorkerError)) return error;
  const cause = { cause: error };
  const file = plan.inputs[Number(error.facts.input)]?.name ?? '';
  switch (error.code) {
    case 'PDF_UNREADABLE':
    case 'PDF_ENCRYPTED':
      return new Failure(error.code, { file }, cause);
    case 'DISK_FULL':
      return new Failure('DISK_FULL', {}, cause);
    case 'MEMORY':
      return new Failure('MEMORY_LIMIT', { engine: ENGINE_NAME }, cause);
    default:
      return error;
  }
}
