/** One file of a form, already in its place on disk. */
export interface Upload {
  /** The form field it came in. */
  readonly field: string;
  /** Last segment of the file name, control characters dropped, NFC: the name that errors and answers use. */
  readonly name: string;
  /** The relative path as the client gave it (`img/a.png`), for serving a site from its folders; never leaves the root. */
  readonly path: string;
  /** Absolute path of its content: a safe name of ours with the original extension. */
  readonly file: string;
  readonly bytes: number;
}

/** A form as it came: every value and every file, in the order of sending. */
export interface RawForm {
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly files: readonly Upload[];
}

/** The read value, or the reason why it can't be: the text inside `(got '…', resulting to …)`. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** A form field with one value. Parsing, error text, docs and OpenAPI follow from it. */
export interface ValueField<T> {
  readonly in: 'value';
  readonly type: string;
  readonly default: T;
  readonly doc: string;
  readonly required?: boolean;
  /** Not built yet: refused by name unless it asks for the default. */
  readonly planned?: boolean;
  readonly secret?: boolean;
  read(raw: string): Read<T>;
}

/** Files chosen from the form by name or by extension, whatever field they came in. */
export interface FileField<T> {
  readonly in: 'files';
  readonly doc: string;
  readonly required: boolean;
  readonly planned?: boolean;
  /** The chosen files, or the complete problem text. */
  pick(files: readonly Upload[]): Read<T>;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds fields of many types; FormOf gives each its own back.
export type Field = ValueField<any> | FileField<any>;
/** A route's form in the order in which problems are reported. */
export type FieldTable = Readonly<Record<string, Field>>;

export type FormOf<T extends FieldTable> = {
  readonly [K in keyof T]: T[K] extends ValueField<infer V> ? V : T[K] extends FileField<infer V> ? V : never;
} & {
  /** All files of the form, for routes that serve them; reserved buckets included. */
  readonly $files: readonly Upload[];
};

/** Field names whose files are never ordinary inputs. */
export const RESERVED_FILE_FIELDS: ReadonlySet<string> = new Set(['embeds', 'watermark', 'stamp', 'facturxXml']);
