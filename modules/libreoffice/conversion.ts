/** One document to be converted: what the bridge is told, and where the document is and shall be. */
export interface Conversion {
  /** Absolute path of the document; it is only read. */
  readonly file: string;
  /** The name by which the client knows it. */
  readonly name: string;
  /** Absolute path of the PDF. */
  readonly output: string;
  /** Import filters; of several, LibreOffice's own detection finds the right one. */
  readonly filters: readonly string[];
  /** Import options by filter. */
  readonly filterOptions?: Readonly<Record<string, string>>;
  readonly password?: string;
  /** Whether a password that nothing asks for is a fault. */
  readonly strictPassword?: boolean;
  readonly landscape?: boolean;
  /** Bring tables of contents and the like up to date. Absent: yes. */
  readonly updateIndexes?: boolean;
  /** Print sheets without their headers. */
  readonly hideHeaders?: boolean;
  /** Properties of LibreOffice's PDF export filter. */
  readonly export?: Readonly<Record<string, string | number | boolean>>;
}
