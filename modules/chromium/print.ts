import { open } from 'node:fs/promises';
import type { CDPSession, Protocol } from 'puppeteer';
import { Failure } from '../../src/failure/failure.ts';

/** What a page is printed like; lengths in inches. */
export interface PrintOptions {
  readonly landscape: boolean;
  readonly printBackground: boolean;
  readonly scale: number;
  readonly singlePage: boolean;
  readonly paperWidth: number;
  readonly paperHeight: number;
  readonly marginTop: number;
  readonly marginBottom: number;
  readonly marginLeft: number;
  readonly marginRight: number;
  readonly nativePageRanges: string;
  readonly preferCssPageSize: boolean;
  /** HTML; undefined: none. */
  readonly header: string | undefined;
  readonly footer: string | undefined;
}

const BLANK = '<html><head></head><body></body></html>';
const CSS_PIXELS_PER_INCH = 96;
/** How much of the PDF is read at once; it travels as base64 in one message. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Prints the page as it is now into a file.
 * @throws Failure `PAGE_TOO_LARGE`, `PRINT_SETTINGS`, `PAGE_RANGES_SYNTAX`, `PAGE_RANGES_BEYOND`
 */
export async function printPage(session: CDPSession, options: PrintOptions, output: string): Promise<void> {
  const parameters = await parametersOf(session, options);
  const { stream } = await session.send('Page.printToPDF', parameters).catch((error: unknown) => {
    throw printFailure(error, options) ?? error;
  });
  if (stream) await saveStream(session, stream, output);
}

/** Exact colours, and no backgrounds where none were asked for: as a sheet of ours, which no page's policy forbids. */
export async function adjustStyles(session: CDPSession, printBackground: boolean): Promise<void> {
  const css = [
    'html { -webkit-print-color-adjust: exact !important; }',
    ...(printBackground ? [] : ['html, body { background: none !important; }']),
  ].join(' ');
  await session.send('Runtime.evaluate', {
    expression: `{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(${JSON.stringify(css)});
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    }`,
  });
}

async function parametersOf(session: CDPSession, options: PrintOptions): Promise<Protocol.Page.PrintToPDFRequest> {
  const { header, footer } = options;
  return {
    landscape: options.landscape,
    printBackground: options.printBackground,
    scale: options.scale,
    paperWidth: options.paperWidth,
    paperHeight: options.paperHeight,
    marginTop: options.marginTop,
    marginBottom: options.marginBottom,
    marginLeft: options.marginLeft,
    marginRight: options.marginRight,
    pageRanges: options.nativePageRanges,
    preferCSSPageSize: options.preferCssPageSize,
    displayHeaderFooter: header !== undefined || footer !== undefined,
    headerTemplate: header ?? BLANK,
    footerTemplate: footer ?? BLANK,
    generateTaggedPDF: false,
    generateDocumentOutline: false,
    transferMode: 'ReturnAsStream',
    ...(options.singlePage && (await singlePage(session, options))),
  };
}

/** Paper as high as the content. Turned paper swaps its axes when it is printed, so its width is the height. */
async function singlePage(
  session: CDPSession,
  options: PrintOptions,
): Promise<Partial<Protocol.Page.PrintToPDFRequest>> {
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const height = cssContentSize.height / CSS_PIXELS_PER_INCH + options.marginTop + options.marginBottom;
  if (!options.landscape) return { paperHeight: height, pageRanges: '1' };
  const width = cssContentSize.width / CSS_PIXELS_PER_INCH + options.marginLeft + options.marginRight;
  return { paperWidth: height, paperHeight: width, pageRanges: '1' };
}

async function saveStream(session: CDPSession, handle: string, output: string): Promise<void> {
  const file = await open(output, 'wx', 0o600);
  try {
    while (true) {
      const piece = await session.send('IO.read', { handle, size: PIECE_BYTES });
      await file.writeFile(Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'utf8'));
      if (piece.eof) break;
    }
  } finally {
    await file.close();
    // Nobody reads from it any more; that it is gone already is as good.
    session.send('IO.close', { handle }).catch(() => {});
  }
}

/** The client's fault behind the browser's words, or undefined where it is none. */
function printFailure(error: unknown, { nativePageRanges: ranges }: PrintOptions): Failure | undefined {
  const text = error instanceof Error ? error.message : '';
  const cause = { cause: error };
  if (text.includes('Page range syntax error')) return new Failure('PAGE_RANGES_SYNTAX', { ranges }, cause);
  if (text.includes('Page range exceeds page count')) return new Failure('PAGE_RANGES_BEYOND', { ranges }, cause);
  if (text.includes('Page range is invalid')) return new Failure('PAGE_RANGES_SYNTAX', { ranges }, cause);
  if (text.includes('Printing failed')) return new Failure('PAGE_TOO_LARGE', {}, cause);
  if (/invalid printer settings|content area is empty|invalid print parameters/.test(text)) {
    return new Failure('PRINT_SETTINGS', {}, cause);
  }
  return undefined;
}
