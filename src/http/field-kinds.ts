import { parseBool, parseDuration } from '../settings/declare.ts';
import { sortAlphanumerically } from '../work/alphanumeric.ts';
import { type FileField, RESERVED_FILE_FIELDS, type Read, type Upload, type ValueField } from './fields.ts';

/*
 * The kinds of form field. The problem texts are those of the compatible API, which are Go's: clients compare them.
 */

interface Spec<T> {
  readonly default: T;
  readonly doc: string;
  readonly required?: boolean;
  readonly secret?: boolean;
}

type Check<T> = (value: T) => string | undefined;

function field<T>(type: string, spec: Spec<T>, parse: (raw: string) => Read<T>, check?: Check<T>): ValueField<T> {
  return {
    in: 'value',
    type,
    default: spec.default,
    doc: spec.doc,
    ...(spec.required && { required: true }),
    ...(spec.secret && { secret: true }),
    read(raw) {
      const read = parse(raw);
      const problem = 'value' in read ? check?.(read.value) : undefined;
      return problem === undefined ? read : { problem };
    },
  };
}

const syntax = (parser: string, raw: string): { problem: string } => ({
  problem: `strconv.${parser}: parsing ${JSON.stringify(raw)}: invalid syntax`,
});

/** true or false, as Go's ParseBool reads it. */
export function bool(spec: Spec<boolean>): ValueField<boolean> {
  return field('boolean', spec, raw => {
    const value = parseBool(raw);
    return value === undefined ? syntax('ParseBool', raw) : { value };
  });
}

/** A whole number, as Go's Atoi reads it. */
export function int(spec: Spec<number> & { check?: Check<number> }): ValueField<number> {
  return field(
    'integer',
    spec,
    raw => {
      if (!/^[+-]?\d+$/.test(raw)) return syntax('Atoi', raw);
      const value = Number(raw);
      if (BigInt.asIntN(64, BigInt(raw.replace('+', ''))) !== BigInt(raw.replace('+', ''))) {
        return { problem: `strconv.Atoi: parsing ${JSON.stringify(raw)}: value out of range` };
      }
      return { value };
    },
    spec.check,
  );
}

function parseFloatStrictly(raw: string): number | undefined {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(raw) ? Number(raw) : undefined;
}

/** A finite number. Infinity, NaN and hexadecimal, which Go would read, mean nothing to any field and are refused. */
export function float(spec: Spec<number> & { check?: Check<number> }): ValueField<number> {
  return field(
    'number',
    spec,
    raw => {
      const value = parseFloatStrictly(raw);
      return value === undefined ? syntax('ParseFloat', raw) : { value };
    },
    spec.check,
  );
}

const PER_INCH: readonly (readonly [suffix: string, perInch: number])[] = [
  ['pt', 72],
  ['px', 96],
  ['in', 1],
  ['mm', 25.4],
  ['cm', 2.54],
  ['pc', 6],
];

/** A length; its value is in inches, which is also what a number without unit means. */
export function inches(spec: Spec<number> & { check?: Check<number> }): ValueField<number> {
  return field(
    'length',
    spec,
    raw => {
      const unit = PER_INCH.find(([suffix]) => raw.endsWith(suffix));
      const number = unit ? raw.slice(0, -unit[0].length) : raw;
      const value = parseFloatStrictly(number);
      return value === undefined ? syntax('ParseFloat', number) : { value: value / (unit?.[1] ?? 1) };
    },
    spec.check,
  );
}

/** A time span as Go writes it (`1.5s`); its value is in ms. */
export function duration(spec: Spec<number> & { check?: Check<number> }): ValueField<number> {
  return field(
    'duration',
    spec,
    raw => {
      const value = parseDuration(raw);
      if (value !== undefined) return { value };
      if (/^[+-]?\d+(\.\d*)?$/.test(raw)) return { problem: `time: missing unit in duration ${JSON.stringify(raw)}` };
      const unit = /^[+-]?(?:\d+\.?\d*|\.\d+)([^\d.]+)/.exec(raw)?.[1];
      if (unit && !/^(ns|us|µs|μs|ms|s|m|h)$/.test(unit)) {
        return { problem: `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(raw)}` };
      }
      return { problem: `time: invalid duration ${JSON.stringify(raw)}` };
    },
    spec.check,
  );
}

/** Any text, taken as it is. */
export function text(spec: Spec<string> & { check?: Check<string> }): ValueField<string> {
  return field('text', spec, raw => ({ value: raw }), spec.check);
}

/** One of a few words. */
export function choice<const T extends string>(spec: Spec<T> & { of: readonly T[]; expected: string }): ValueField<T> {
  return field<T>('choice', spec, raw => {
    const value = spec.of.find(option => option === raw);
    return value === undefined ? { problem: `wrong value, expected ${spec.expected}` } : { value };
  });
}

/** JSON that `shape` accepts; `shape` gives undefined where it doesn't. */
export function json<T>(
  spec: Spec<T> & { name: string; shape: (value: unknown) => T | undefined; expected: string },
): ValueField<T> {
  return field<T>('JSON', spec, raw => {
    try {
      const value = spec.shape(JSON.parse(raw));
      return value === undefined ? { problem: `unmarshal ${spec.name}: expected ${spec.expected}` } : { value };
    } catch {
      return { problem: `unmarshal ${spec.name}: ${goJsonProblem(raw)}` };
    }
  });
}

/** What Go's encoding/json says of a text that is no JSON, for the cases that clients meet. */
export function goJsonProblem(raw: string): string {
  const start = raw.trimStart();
  for (const literal of ['true', 'false', 'null']) {
    if (start[0] !== literal[0]) continue;
    for (let i = 1; i < literal.length; i += 1) {
      if (start[i] === undefined) return 'unexpected end of JSON input';
      if (start[i] !== literal[i]) {
        return `invalid character '${start[i]}' in literal ${literal} (expecting '${literal[i]}')`;
      }
    }
  }
  if (start === '') return 'unexpected end of JSON input';
  if (!/^["{[\d-]/.test(start)) return `invalid character '${start[0]}' looking for beginning of value`;
  return 'unexpected end of JSON input';
}

/** `1-3,5`, `2-`: pages of a document, spaces allowed. Empty means all. */
export function pageRanges(spec: Omit<Spec<string>, 'default'>): ValueField<string> {
  return text({ ...spec, default: '', check: pageRangesProblem });
}

/** What is wrong with page ranges, or undefined. */
export function pageRangesProblem(raw: string): string | undefined {
  for (const range of raw.replaceAll(' ', '').split(',')) {
    const match = /^(\d*)(-?)(\d*)$/.exec(range);
    if (!match || range === '' || range === '-')
      return "wrong value, expected page ranges like '1-4', '2' or '1,3,5-7'";
    const [, from, dash, to] = match;
    if (from === '0' || to === '0') return 'wrong value, pages count from 1';
    if (dash && from && to && Number(from) > Number(to)) return `wrong value, range ${range} starts after its end`;
  }
  return undefined;
}

/** Marks a field of the compatible API that is still to be built. */
export function planned<T>(of: ValueField<T>): ValueField<T>;
export function planned<T>(of: FileField<T>): FileField<T>;
export function planned<T>(of: ValueField<T> | FileField<T>): ValueField<T> | FileField<T> {
  return { ...of, planned: true };
}

/** The file of this name; its extension may be in upper case. */
export function fileNamed(name: string, spec: { doc: string; required: true }): FileField<Upload>;
export function fileNamed(name: string, spec: { doc: string; required?: false }): FileField<Upload | undefined>;
export function fileNamed(name: string, spec: { doc: string; required?: boolean }): FileField<Upload | undefined> {
  return {
    in: 'files',
    doc: spec.doc,
    required: spec.required ?? false,
    pick(files) {
      // Look-up by name takes the last part of that name, as the compatible API does.
      const found = files.findLast(file => file.name === name || withLowerExtension(file.name) === name);
      return found || !spec.required ? { value: found } : { problem: `form file '${name}' is required` };
    },
  };
}

/** All files with one of these extensions (lower case, with dot), in alphanumeric order of their names. */
export function filesWith(extensions: readonly string[], spec: { doc: string }): FileField<readonly Upload[]> {
  const accepted = new Set(extensions);
  return {
    in: 'files',
    doc: spec.doc,
    required: true,
    pick(files) {
      const inputs = files.filter(
        file => !RESERVED_FILE_FIELDS.has(file.field) && accepted.has(extensionOf(file.name)),
      );
      if (inputs.length === 0) return { problem: `no form file found for extensions: [${extensions.join(' ')}]` };
      return { value: sortAlphanumerically(inputs, file => file.name) };
    },
  };
}

/** The last extension in lower case, with its dot; empty where there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot).toLowerCase();
}

function withLowerExtension(name: string): string {
  const extension = extensionOf(name);
  return name.slice(0, name.length - extension.length) + extension;
}
