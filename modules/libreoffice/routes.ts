import { rm } from 'node:fs/promises';
import type { PdfTools } from '../../src/capability/capabilities.ts';
import { Failure } from '../../src/failure/failure.ts';
import { type ConversionRequest, defineConversion, type Output, type Route } from '../../src/http/route.ts';
import type { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import type { Attempt } from '../../src/supervise/types.ts';
import { failureOf } from './failures.ts';
import { convertFields } from './fields.ts';
import { type Plan, planFor } from './plan.ts';
import type { Soffice } from './soffice.ts';

export type Offices = Pick<ProcessSupervisor<Soffice>, 'runAll'>;

export function convertRoute(offices: Offices, pdf: PdfTools | undefined): Route {
  return defineConversion({
    path: '/forms/libreoffice/convert',
    summary: 'Convert Office documents and many others to PDF',
    fields: convertFields,
    async convert(form, request) {
      const plans = await Promise.all(form.files.map(upload => planFor(upload, form)));
      const outputs = await request.work.hold(convertAll(plans, offices, request));
      if (!form.merge || outputs.length === 1) return named(outputs, plans);
      return [await merged(outputs, plans, pdf, request)];
    },
  });
}

/** Converts all, side by side where there are instances; results in the order of the plans. */
function convertAll(plans: readonly Plan[], offices: Offices, request: ConversionRequest): Promise<string[]> {
  const jobs = plans.map(plan => ({ plan, output: request.work.next('.pdf') }));
  return offices.runAll(
    jobs,
    async ({ plan, output }, office, attempt) => {
      if (attempt.number > 1) await rm(output, { force: true });
      await convertOne({ ...plan, output }, office, attempt);
      return output;
    },
    request.run,
  );
}

async function convertOne(conversion: Plan & { output: string }, office: Soffice, attempt: Attempt): Promise<void> {
  const { name, filters } = conversion;
  if (!filters.some(filter => office.reads(filter))) {
    throw new Failure('OFFICE_NO_FILTER', { file: name, found: 'its module is not installed' });
  }
  try {
    await office.convert(conversion);
  } catch (error) {
    const failure = failureOf(error, { name, pageRanges: String(conversion.export?.PageRange ?? '') });
    if (!Failure.is(failure)) attempt.retireInstance('unknown failure');
    if (Failure.is(failure, 'MEMORY_LIMIT')) attempt.retireInstance('memory');
    throw failure;
  } finally {
    if (await office.keepsFonts()) attempt.retireInstance('embedded fonts');
  }
}

/** One result keeps the random name of the compatible API; several are told apart by their documents' names. */
function named(files: readonly string[], plans: readonly Plan[]): readonly Output[] {
  if (files.length === 1) return files.map(file => ({ file }));
  return files.map((file, index) => ({ file, name: `${plans[index]?.name}.pdf` }));
}

async function merged(
  files: readonly string[],
  plans: readonly Plan[],
  pdf: PdfTools | undefined,
  request: ConversionRequest,
): Promise<Output> {
  if (!pdf) throw new Error('merging needs a module that provides PDF tools');
  const output = request.work.next('.pdf');
  const inputs = files.map((file, index) => ({ file, name: plans[index]?.name ?? '' }));
  await request.work.hold(pdf.apply({ inputs, steps: [{ do: 'merge', outline: 'keep' }], output }, request.run));
  return { file: output };
}
