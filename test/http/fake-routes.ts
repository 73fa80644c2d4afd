import { writeFile } from 'node:fs/promises';
import { bool, text } from '../../src/http/field-kinds.ts';
import type { Upload } from '../../src/http/fields.ts';
import { type ConversionRequest, defineConversion, type Output, type Route } from '../../src/http/route.ts';

/** A route whose conversion is the test's own. */
export function conversion(
  convert: (request: ConversionRequest, files: readonly Upload[]) => Promise<readonly Output[]>,
  path = '/forms/test',
): Route {
  return defineConversion({
    path,
    summary: 'A test',
    fields: { flag: bool({ default: false, doc: '' }), secret: text({ default: '', secret: true, doc: '' }) },
    convert: (form, request) => convert(request, form.$files),
  });
}

/** A conversion that makes files of these contents. */
export function makes(...contents: readonly { content: string | Buffer; name?: string; extension?: string }[]): Route {
  return conversion(async request => {
    const outputs: Output[] = [];
    for (const { content, name, extension = '.pdf' } of contents) {
      const file = request.work.next(extension);
      await writeFile(file, content);
      outputs.push({ file, ...(name !== undefined && { name }) });
    }
    return outputs;
  });
}
