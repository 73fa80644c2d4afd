import { open } from 'node:fs/promises';
import { Failure } from '../../src/failure/failure.ts';
import { EngineCrash } from '../../src/supervise/types.ts';
import type { PrintOptions } from './job.ts';
import type { Visit } from './visit.ts';

/** Bytes asked for at once: few round trips, and little memory. */
const CHUNK_BYTES = 512 * 1024;
const PX_PER_INCH = 96;

/**
 * Prints the page into a file, piece by piece.
 * @throws Failure `PAGE_TOO_LARGE`, `PRINT_SETTINGS`, `PAGE_RANGES_SYNTAX`, `PAGE_RANGES_BEYOND`; the signal's reason
 */
export async function printPage(options: PrintOptions, visit: Visit, output: string): Promise<void> {
  const handle = await startPrinting(options, visit);
  await using file = await open(output, 'w');
  for (let eof = false; !eof; ) {
    const piece = await visit.send('IO.read', { handle, size: CHUNK_BYTES });
    eof = piece.eof;
    await file.write(Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'utf8'));
  }
  visit.tab.send('IO.close', { handle }).catch(() => {});
}

async function startPrinting(options: PrintOptions, visit: Visit): Promise<string> {
  const paper = options.singlePage ? await paperOfContent(options, visit) : paperOf(options);
  try {
    const { stream } = await visit.send('Page.printToPDF', {
      ...paper,
      transferMode: 'ReturnAsStream',
      landscape: options.landscape,
      printBackground: options.printBackground,
      scale: options.scale,
      marginTop: options.marginTop,
      marginBottom: options.marginBottom,
      marginLeft: options.marginLeft,
      marginRight: options.marginRight,
      preferCSSPageSize: options.preferCssPageSize,
      displayHeaderFooter: options.header !== undefined || options.footer !== undefined,
      headerTemplate: options.header ?? BLANK,
      footerTemplate: options.footer ?? BLANK,
      generateTaggedPDF: false,
      generateDocumentOutline: false,
    });
    if (stream === undefined) throw new Error('the browser printed nothing');
    return stream;
  } catch (error) {
    if (visit.signal.aborted || error instanceof EngineCrash) throw error;
    throw failureOf(error, options.pageRanges);
  }
}

/** Without it, Chromium puts a header and a footer of its own there. */
const BLANK = '<html><head></head><body></body></html>';

interface Paper {
  readonly paperWidth: number;
  readonly paperHeight: number;
  readonly pageRanges: string;
}

function paperOf({ paperWidth, paperHeight, pageRanges }: PrintOptions): Paper {
  return { paperWidth, paperHeight, pageRanges };
}

/**
 * Paper as high as the content, on which everything is one page. Landscape swaps the axes, as the compatible API does:
 * there the paper is as wide as the content, too.
 */
async function paperOfContent(options: PrintOptions, visit: Visit): Promise<Paper> {
  const { marginTop, marginBottom, marginLeft, marginRight, landscape, scale } = options;
  const { width, height } = await contentSize(options, visit);
  const high = (height * scale) / PX_PER_INCH + marginTop + marginBottom;
  const wide = (width * scale) / PX_PER_INCH + marginLeft + marginRight;
  const paper = landscape
    ? { paperWidth: high, paperHeight: wide }
    : { paperWidth: options.paperWidth, paperHeight: high };
  return { ...paper, pageRanges: '1' };
}

/**
 * What the content takes, in CSS pixels: upright, where text will be broken at the paper's width, as it is at that width.
 */
async function contentSize(
  { landscape, paperWidth, marginLeft, marginRight, scale }: PrintOptions,
  visit: Visit,
): Promise<{ width: number; height: number }> {
  const width = Math.floor(((paperWidth - marginLeft - marginRight) * PX_PER_INCH) / scale);
  if (!landscape && width > 0) {
    await visit.send('Emulation.setDeviceMetricsOverride', { width, height: 0, deviceScaleFactor: 0, mobile: false });
  }
  try {
    return (await visit.send('Page.getLayoutMetrics')).cssContentSize;
  } finally {
    // The tab's next page has the window that all have.
    if (!landscape) await visit.send('Emulation.clearDeviceMetricsOverride');
  }
}

/** What the browser says of a page that it can't print, as a client can use it. */
export function failureOf(error: unknown, ranges: string): unknown {
  const said = error instanceof Error ? error.message : String(error);
  const cause = { cause: error };
  if (said.includes('Page range exceeds page count')) return new Failure('PAGE_RANGES_BEYOND', { ranges }, cause);
  if (said.includes('Page range')) return new Failure('PAGE_RANGES_SYNTAX', { ranges }, cause);
  if (said.includes('Printing failed')) return new Failure('PAGE_TOO_LARGE', {}, cause);
  if (SETTINGS_FAULTS.some(fault => said.includes(fault))) return new Failure('PRINT_SETTINGS', {}, cause);
  return error;
}

const SETTINGS_FAULTS = [
  'Show invalid printer settings error',
  'invalid print parameters',
  'content area is empty',
  'is outside of',
  'is zero or negative',
  'is negative',
];
