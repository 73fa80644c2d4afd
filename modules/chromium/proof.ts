import type { PageJob } from './job.ts';

/** What a browser has to print before it is trusted with the pages of others. */
export const PROOF =
  '<!doctype html><meta charset="utf-8"><title>Proof</title><p style="font-family: sans-serif">Proof</p>';

/** Prints it, the way most requests are printed. */
export function proofOf(file: string, output: string): PageJob {
  return {
    page: { files: [{ path: 'index.html', file }], entry: 'index.html' },
    failOnStatus: new Set([404]),
    waits: { expression: '', selector: '', delayMs: 0 },
    media: '',
    print: {
      landscape: false,
      printBackground: false,
      scale: 1,
      singlePage: false,
      paperWidth: 8.5,
      paperHeight: 11,
      marginTop: 0.39,
      marginBottom: 0.39,
      marginLeft: 0.39,
      marginRight: 0.39,
      pageRanges: '',
      preferCssPageSize: false,
      header: undefined,
      footer: undefined,
    },
    output,
  };
}
