import type { PdfTools } from '../../src/capability/capabilities.ts';
import {
  bookmarkFields,
  embedFields,
  facturXFields,
  flattenFields,
  metadataFields,
  optimizeFields,
  protectionFields,
  rotateFields,
  stampFields,
  standardFields,
  watermarkFields,
} from '../../src/capability/finishing-fields.ts';
import { bool, filesWith, planned } from '../../src/http/field-kinds.ts';
import type { FieldTable } from '../../src/http/fields.ts';
import { defineConversion, type Route } from '../../src/http/route.ts';

export function pdfRoutes(pdf: PdfTools): readonly Route[] {
  return [mergeRoute(pdf)];
}

const mergeFields = {
  ...standardFields,
  ...metadataFields,
  ...bookmarkFields,
  ...protectionFields,
  ...watermarkFields,
  ...stampFields,
  ...rotateFields,
  ...embedFields,
  ...facturXFields,
  ...optimizeFields,
  files: filesWith(['.pdf'], { doc: 'The PDFs to merge, in the alphanumeric order of their names.' }),
  ...flattenFields,
  autoIndexBookmarks: bool({
    default: false,
    doc: 'Carry the outlines of the parts over, so that each entry leads to the page that it led to.',
  }),
  titleBookmarks: planned(
    bool({ default: false, doc: 'Put the outline of each part under an entry with the title of that part.' }),
  ),
} as const satisfies FieldTable;

export function mergeRoute(pdf: PdfTools): Route {
  return defineConversion({
    path: '/forms/pdfengines/merge',
    summary: 'Merge PDFs into one',
    fields: mergeFields,
    async convert(form, request) {
      const output = request.work.next('.pdf');
      const inputs = form.files.map(({ file, name }) => ({ file, name }));
      const outline = form.autoIndexBookmarks ? 'keep' : 'none';
      await request.work.hold(pdf.apply({ inputs, steps: [{ do: 'merge', outline }], output }, request.run));
      return [{ file: output }];
    },
  });
}
