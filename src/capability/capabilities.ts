import type { RunOptions } from '../supervise/types.ts';

/** What modules offer to one another. A module asks for a capability, never for a module. */
export interface Capabilities {
  readonly pdf?: PdfTools;
}

/** Work on PDFs, done by whichever module has a PDF engine. */
export interface PdfTools {
  /**
   * Carries out a whole plan in one pass: every file is read once and written once.
   * @throws Failure `PDF_UNREADABLE`, `PDF_ENCRYPTED` naming the file; what the supervisor throws
   */
  apply(plan: PdfPlan, options: RunOptions): Promise<void>;
}

export interface PdfInput {
  /** Absolute path. */
  readonly file: string;
  /** The name the client knows it by, for errors and outline titles. */
  readonly name: string;
}

export interface OutlineNode {
  readonly title: string;
  /** 1-based. */
  readonly page: number;
  readonly children?: readonly OutlineNode[];
}

/** What happens to the inputs, in order. More kinds of step come with more features. */
export type PdfStep = {
  readonly do: 'merge';
  /** `keep`: carry each input's outline over, shifted by the pages before it. `none`: no outline. */
  readonly outline: 'keep' | 'none';
};

export interface PdfPlan {
  readonly inputs: readonly PdfInput[];
  readonly steps: readonly PdfStep[];
  /** Absolute path of the result. */
  readonly output: string;
}
