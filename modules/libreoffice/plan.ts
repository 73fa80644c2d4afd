import { Failure } from '../../src/failure/failure.ts';
import { extensionOf, pageRangesProblem } from '../../src/http/field-kinds.ts';
import type { Upload } from '../../src/http/fields.ts';
import { describeContent } from './contents.ts';
import type { Conversion } from './conversion.ts';
import { type ConvertForm, exportOptions } from './fields.ts';
import { readingOf, readsText } from './formats.ts';
import { sniff } from './sniff.ts';
import { filterOptions, textFacts } from './text-options.ts';

/** A conversion of which only the place of its result is still open. */
export type Plan = Omit<Conversion, 'output'>;

/**
 * Looks at a document and says how it is to be converted.
 * @throws Failure `OFFICE_EMPTY`, `OFFICE_MISLABELLED`, `OFFICE_NO_FILTER`, `OFFICE_PASSWORD_UNNEEDED`, `OFFICE_PAGE_RANGES`:
 *   all that can be refused before LibreOffice is asked
 */
export async function planFor(upload: Upload, form: ConvertForm): Promise<Plan> {
  const { file, name } = upload;
  const extension = extensionOf(name);
  const content = await sniff(file);
  if (content === 'empty') throw new Failure('OFFICE_EMPTY', { file: name });
  const reading = readingOf(extension, content);
  if ('problem' in reading) {
    const found = describeContent(content);
    if (reading.problem === 'no filter') throw new Failure('OFFICE_NO_FILTER', { file: name, extension, found });
    throw new Failure('OFFICE_MISLABELLED', { file: name, found, expected: reading.expected });
  }
  // An OOXML document with a password is never a ZIP archive.
  if (content.startsWith('ooxml-') && content !== 'ooxml-encrypted' && form.password) {
    throw new Failure('OFFICE_PASSWORD_UNNEEDED', { file: name });
  }
  const { filters } = reading;
  return {
    file,
    name,
    filters,
    filterOptions: await textOptions(file, filters),
    password: form.password,
    strictPassword: content.startsWith('odf-'),
    landscape: form.landscape,
    updateIndexes: form.updateIndexes,
    hideHeaders: extension === '.csv',
    export: exportOptions(form, checkedPageRanges(form.nativePageRanges, name)),
  };
}

async function textOptions(file: string, filters: readonly string[]): Promise<Record<string, string>> {
  const options: Record<string, string> = {};
  for (const filter of filters) {
    const reads = readsText(filter);
    if (reads) options[filter] = filterOptions(reads, await textFacts(file));
  }
  return options;
}

/**
 * Page ranges as LibreOffice takes them. By itself it reads something into `0`, `3-1`, `1 3` and letters, too.
 * @throws Failure `OFFICE_PAGE_RANGES`
 */
function checkedPageRanges(ranges: string, file: string): string {
  const listed = ranges.replaceAll(';', ',');
  if (ranges !== '' && (/\d\s+\d/.test(listed) || pageRangesProblem(listed) !== undefined)) {
    throw new Failure('OFFICE_PAGE_RANGES', { ranges, file });
  }
  return listed.replaceAll(/\s/g, '');
}
