import type { SiteFile } from './site.ts';

/** One page to print: everything a lane needs to know of a request. */
export interface PageJob {
  readonly page: SitePage | UrlPage;
  /** Statuses of the page itself that fail the request. */
  readonly failOnStatus: ReadonlySet<number>;
  readonly waits: Waits;
  /** The media type for styles; empty: as Chromium prints. */
  readonly media: '' | 'screen' | 'print';
  readonly print: PrintOptions;
  /** Absolute path of the PDF. */
  readonly output: string;
}

/** A page among the files of the form. */
export interface SitePage {
  readonly files: readonly SiteFile[];
  /** The path of the page among them. */
  readonly entry: string;
}

export interface UrlPage {
  readonly url: string;
}

/** What has to happen before the page is printed, in this order. */
export interface Waits {
  /** JavaScript that has to become true; empty: nothing. */
  readonly expression: string;
  /** A CSS selector whose first element has to become visible; empty: nothing. */
  readonly selector: string;
  readonly delayMs: number;
}

/** Lengths in inches. */
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
  /** Empty: all. */
  readonly pageRanges: string;
  readonly preferCssPageSize: boolean;
  /** HTML; undefined: none. */
  readonly header: string | undefined;
  readonly footer: string | undefined;
}
