import { bool, choice, int, json, planned, text } from '../http/field-kinds.ts';
import type { FieldTable, FileField, Upload } from '../http/fields.ts';

/*
 * The form fields for what happens to a PDF once it has been made: the same on the Chromium, LibreOffice and PDF
 * routes. Each group stands in the order in which the compatible API reports problems; which groups a route takes, and
 * in which order, it says itself by spreading them into its table.
 */

/** Cutting the PDF up. */
export const splitFields = {
  splitMode: planned(
    choice({
      default: '',
      of: ['', 'intervals', 'pages'],
      expected: "either 'intervals' or 'pages'",
      doc: 'How to split the PDF: every so many pages (intervals), or chosen pages (pages).',
    }),
  ),
  splitSpan: planned(text({ default: '', doc: 'Pages per part for intervals, page ranges such as 1-3,5 for pages.' })),
  splitUnify: planned(bool({ default: false, doc: 'Put chosen pages into one PDF instead of one PDF a page.' })),
} as const satisfies FieldTable;

/** Standards for archiving and accessibility. */
export const standardFields = {
  pdfa: planned(text({ default: '', doc: 'The PDF/A standard to follow: PDF/A-1b, PDF/A-2b or PDF/A-3b.' })),
  pdfua: planned(bool({ default: false, doc: 'Follow PDF/UA, for access with assistive technology.' })),
} as const satisfies FieldTable;

export const metadataFields = {
  metadata: planned(
    json<Readonly<Record<string, unknown>>>({
      name: 'metadata',
      default: {},
      shape: objectOf(() => true),
      expected: 'an object such as {"Title":"Report"}',
      doc: 'Metadata to write, a JSON object.',
    }),
  ),
} as const satisfies FieldTable;

export const bookmarkFields = {
  bookmarks: planned(
    json<unknown>({
      name: 'bookmarks',
      default: [],
      shape: value => (typeof value === 'object' && value !== null ? value : undefined),
      expected: 'a list of bookmarks, or an object with such a list for each file name',
      doc: 'The outline to write: [{"title":"…","page":1,"children":[…]}], or such a list for each file name.',
    }),
  ),
} as const satisfies FieldTable;

/** Passwords, and what is allowed without the owner's. */
export const protectionFields = {
  userPassword: planned(text({ default: '', secret: true, doc: 'The password that opens the PDF.' })),
  ownerPassword: planned(
    text({ default: '', secret: true, doc: 'The password that allows everything; absent: the user password.' }),
  ),
  allowPrinting: permission('printing'),
  allowCopying: permission('copying of text and pictures'),
  allowModifying: permission('changes of the content'),
  allowAnnotating: permission('annotations'),
  allowFillingForms: permission('filling in of forms'),
  allowAssembling: permission('inserting, deleting and rotating of pages'),
} as const satisfies FieldTable;

/** Laid under the content. */
export const watermarkFields = {
  watermarkSource: overlaySource('Watermarks'),
  watermarkExpression: planned(text({ default: '', doc: 'The text of a watermark whose source is text.' })),
  watermarkPages: planned(text({ default: '', doc: 'The pages that get the watermark; empty means all.' })),
  watermarkOptions: overlayOptions('watermark'),
  watermark: bucket('watermark', 'Pictures and PDFs for watermarks, used in the order of sending.'),
} as const satisfies FieldTable;

/** Laid over the content. */
export const stampFields = {
  stampSource: overlaySource('Stamps'),
  stampExpression: planned(text({ default: '', doc: 'The text of a stamp whose source is text.' })),
  stampPages: planned(text({ default: '', doc: 'The pages that get the stamp; empty means all.' })),
  stampOptions: overlayOptions('stamp'),
  stamp: bucket('stamp', 'Pictures and PDFs for stamps, used in the order of sending.'),
} as const satisfies FieldTable;

export const rotateFields = {
  rotateAngle: planned(
    choice({
      default: '',
      of: ['', '90', '180', '270'],
      expected: '90, 180, or 270',
      doc: 'Degrees by which pages are turned clockwise.',
    }),
  ),
  rotatePages: planned(text({ default: '', doc: 'The pages to turn; empty means all.' })),
} as const satisfies FieldTable;

/** Attachments. */
export const embedFields = {
  embeds: bucket('embeds', 'Files to attach to the PDF, under their own names.'),
  embedsMetadata: planned(
    json<Readonly<Record<string, unknown>>>({
      name: 'embedsMetadata',
      default: {},
      shape: objectOf(value => typeof value === 'object' && value !== null),
      expected: 'an object such as {"a.xml":{"mimeType":"text/xml","relationship":"Data"}}',
      doc: 'MIME type and relationship of attachments, a JSON object by file name.',
    }),
  ),
} as const satisfies FieldTable;

/** Electronic invoices: Factur-X, ZUGFeRD. */
export const facturXFields = {
  facturxXml: bucket('facturxXml', 'The XML of the invoice.'),
  facturxConformanceLevel: planned(
    worded(['', 'MINIMUM', 'BASIC WL', 'BASIC', 'EN 16931', 'EXTENDED', 'XRECHNUNG'], '', 'conformance level'),
  ),
  facturxDocumentType: planned(
    worded(['INVOICE', 'ORDER', 'ORDER_RESPONSE', 'ORDER_CHANGE'], 'INVOICE', 'document type'),
  ),
  facturxVersion: planned(text({ default: '1.0', doc: 'The version of Factur-X.' })),
} as const satisfies FieldTable;

export const optimizeFields = {
  optimizeImages: planned(bool({ default: false, doc: 'Write pictures anew as JPEG where that makes them smaller.' })),
  imageQuality: planned(
    int({
      default: 80,
      doc: 'The quality of such JPEGs, from 1 to 100.',
      check: value => (value < 1 ? 'value is inferior to 1' : value > 100 ? 'value is superior to 100' : undefined),
    }),
  ),
} as const satisfies FieldTable;

export const flattenFields = {
  flatten: planned(bool({ default: false, doc: 'Paint forms and annotations into the pages; they end being any.' })),
} as const satisfies FieldTable;

/** What the LibreOffice route reads before its files, in its order. */
export const officeFinishingFields = {
  ...splitFields,
  ...standardFields,
  ...metadataFields,
  ...protectionFields,
  ...watermarkFields,
  ...stampFields,
  ...rotateFields,
  ...embedFields,
  ...facturXFields,
  ...optimizeFields,
} as const satisfies FieldTable;

/** What the Chromium conversion routes read after their own fields, in their order. */
export const chromiumFinishingFields = {
  ...splitFields,
  ...standardFields,
  ...metadataFields,
  ...protectionFields,
  ...watermarkFields,
  ...stampFields,
  ...rotateFields,
  ...optimizeFields,
  ...embedFields,
  ...facturXFields,
} as const satisfies FieldTable;

function permission(what: string) {
  return planned(bool({ default: true, doc: `Allow ${what} without the owner password.` }));
}

function overlaySource(what: string) {
  return planned(
    choice({
      default: '',
      of: ['', 'text', 'image', 'pdf'],
      expected: "either 'text', 'image' or 'pdf'",
      doc: `${what}, one for each time this field is sent: text, image or pdf.`,
    }),
  );
}

function overlayOptions(what: string) {
  return planned(
    json<Readonly<Record<string, unknown>>>({
      name: `${what}Options`,
      default: {},
      shape: objectOf(value => typeof value === 'string'),
      expected: 'an object of texts such as {"opacity":"0.5"}',
      doc: `How the ${what} looks, a JSON object of texts.`,
    }),
  );
}

/** One of a few words, with the compatible API's text for any other. */
function worded(of: readonly string[], standard: string, what: string) {
  return text({
    default: standard,
    doc: `The ${what} of the invoice: ${of.filter(Boolean).join(', ')}.`,
    check: value => (of.includes(value) ? undefined : `unsupported ${what} '${value}'`),
  });
}

/** All files sent in a field of this name, in the order of sending. */
function bucket(field: string, doc: string): FileField<readonly Upload[]> {
  return planned({
    in: 'files',
    doc,
    required: false,
    pick: (files: readonly Upload[]) => ({ value: files.filter(file => file.field === field) }),
  });
}

function objectOf(accepts: (value: unknown) => boolean) {
  return (value: unknown): Readonly<Record<string, unknown>> | undefined =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(accepts)
      ? (value as Record<string, unknown>)
      : undefined;
}
