import { chromiumFinishingFields } from '../../src/capability/finishing-fields.ts';
import { bool, choice, duration, fileNamed, float, inches, json, planned, text } from '../../src/http/field-kinds.ts';
import type { FieldTable, FormOf } from '../../src/http/fields.ts';

const notNegative = (value: number) => (value < 0 ? 'value is negative' : undefined);
const positive = (value: number) => (value <= 0 ? 'value must be greater than 0' : undefined);

const statusCodes = (name: string, standard: readonly number[], doc: string) =>
  json<readonly number[]>({
    name,
    default: standard,
    shape: value => (Array.isArray(value) && value.every(Number.isInteger) ? value : undefined),
    expected: 'a list of status codes such as [404,599]',
    doc,
  });

const texts = (name: string, doc: string) =>
  planned(
    json<readonly string[]>({
      name,
      default: [],
      shape: value => (Array.isArray(value) && value.every(item => typeof item === 'string') ? value : undefined),
      expected: 'a list of texts',
      doc,
    }),
  );

const object = (name: string, doc: string) =>
  planned(
    json<Readonly<Record<string, unknown>>>({
      name,
      default: {},
      shape: value =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? (value as Record<string, unknown>)
          : undefined,
      expected: 'an object',
      doc,
    }),
  );

/** How the page is loaded, and when it is ready. */
const pageFields = {
  skipNetworkIdleEvent: planned(bool({ default: true, doc: 'Don’t wait until the network is idle.' })),
  skipNetworkAlmostIdleEvent: planned(bool({ default: true, doc: 'Don’t wait until the network is almost idle.' })),
  failOnHttpStatusCodes: statusCodes(
    'failOnHttpStatusCodes',
    [499, 599],
    'Fail with 409 if the page itself answers with one of these; 499 stands for 400 to 499, and so on.',
  ),
  failOnResourceHttpStatusCodes: planned(
    statusCodes('failOnResourceHttpStatusCodes', [], 'Fail with 409 if a resource answers with one of these.'),
  ),
  ignoreResourceHttpStatusDomains: texts('ignoreResourceHttpStatusDomains', 'Hosts whose resources may fail.'),
  failOnResourceLoadingFailed: planned(bool({ default: false, doc: 'Fail with 409 if a resource can’t be loaded.' })),
  failOnConsoleExceptions: planned(bool({ default: false, doc: 'Fail with 409 if a script throws.' })),
  waitDelay: duration({ default: 0, doc: 'Time to wait before printing, after all other waits.' }),
  waitWindowStatus: text({ default: '', doc: 'Accepted without effect, as in the compatible API.' }),
  waitForExpression: text({ default: '', doc: 'Wait until this JavaScript expression is true.' }),
  waitForSelector: text({ default: '', doc: 'Wait until the first element of this CSS selector is visible.' }),
  cookies: planned(
    json<readonly unknown[]>({
      name: 'cookies',
      default: [],
      shape: value => (Array.isArray(value) ? value : undefined),
      expected: 'a list of cookies',
      doc: 'Cookies to set.',
    }),
  ),
  userAgent: planned(text({ default: '', doc: 'The User-Agent header.' })),
  extraHttpHeaders: object('extraHttpHeaders', 'Headers to send along.'),
  emulatedMediaType: choice({
    default: '',
    of: ['', 'screen', 'print'],
    expected: "either 'screen', 'print' or empty",
    doc: 'The media type for styles: print, unless this says screen.',
  }),
  emulatedMediaFeatures: object('emulatedMediaFeatures', 'Media features to pretend.'),
  omitBackground: planned(bool({ default: false, doc: 'Leave the white page background out.' })),
} as const satisfies FieldTable;

/** How it is printed. */
const printFields = {
  landscape: bool({ default: false, doc: 'Turn the paper.' }),
  printBackground: bool({ default: false, doc: 'Print backgrounds.' }),
  scale: float({
    default: 1,
    doc: 'Scale of the page, from 0.1 to 2.',
    check: value => (value < 0.1 || value > 2 ? 'value is not between 0.1 and 2' : undefined),
  }),
  singlePage: bool({ default: false, doc: 'Print everything on one page that is as high as the content.' }),
  paperWidth: inches({ default: 8.5, doc: 'Width of the paper; inches unless a unit is given.', check: positive }),
  paperHeight: inches({ default: 11, doc: 'Height of the paper.', check: positive }),
  marginTop: inches({ default: 0.39, doc: 'Margin at the top.', check: notNegative }),
  marginBottom: inches({ default: 0.39, doc: 'Margin at the bottom.', check: notNegative }),
  marginLeft: inches({ default: 0.39, doc: 'Margin on the left.', check: notNegative }),
  marginRight: inches({ default: 0.39, doc: 'Margin on the right.', check: notNegative }),
  nativePageRanges: text({ default: '', doc: 'Pages to print, such as 1-3,5; empty means all.' }),
  'header.html': fileNamed('header.html', { doc: 'The header of each page.' }),
  'footer.html': fileNamed('footer.html', { doc: 'The footer of each page.' }),
  preferCssPageSize: bool({ default: false, doc: 'Let @page size rules win over the paper size.' }),
  generateDocumentOutline: planned(bool({ default: false, doc: 'Make an outline of the headings.' })),
  generateTaggedPdf: planned(bool({ default: false, doc: 'Make a tagged PDF.' })),
} as const satisfies FieldTable;

const commonFields = { ...pageFields, ...printFields, ...chromiumFinishingFields } as const satisfies FieldTable;

export type PageForm = FormOf<typeof commonFields>;

export const htmlFields = {
  ...commonFields,
  'index.html': fileNamed('index.html', {
    doc: 'The page; other files are its assets, folders included.',
    required: true,
  }),
} as const satisfies FieldTable;

export const urlFields = {
  ...commonFields,
  url: text({ default: '', required: true, doc: 'The page’s address, http or https.' }),
} as const satisfies FieldTable;
