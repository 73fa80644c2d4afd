/**
 * One setting: declared once, in the module that reads it. Its flag, its environment variable, the line in `--help`,
 * its row in `docs/settings.md` and its check all follow from this.
 */
export interface Setting<T> {
  /** The type's name for help and docs, such as `duration`. */
  readonly kind: string;
  readonly default: T;
  readonly doc: string;
  /** What is accepted, in words, for the error text: `a whole number from 1 to 65535`. */
  readonly accepts: string;
  /** Reads a raw value; undefined means: not acceptable. */
  readonly parse: (raw: string) => T | undefined;
  /** How a value is written, so that the default can be shown. */
  readonly print: (value: T) => string;
  /** A setting of the compatible API that is not built yet: refused at start unless it asks for its default. */
  readonly planned?: true;
  /** Its value must never be printed or logged. */
  readonly secret?: true;
  /** The environment variable, where it is not the flag in upper snake case. */
  readonly env?: string;
  /** Older flag names that still work; the present name wins. */
  readonly aliases?: readonly string[];
  /** How the default is written in docs where it depends on the machine: `one per core`. */
  readonly defaultText?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds settings of many types; SettingsOf gives each its own back.
export type SettingTable = Readonly<Record<string, Setting<any>>>;
export type SettingsOf<T extends SettingTable> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never;
};

/** A module's settings: `{prefix: 'chromium', table: {startTimeout: …}}` makes `--chromium-start-timeout`. */
export interface SettingsGroup<T extends SettingTable = SettingTable> {
  readonly prefix: string;
  readonly table: T;
}

/** The flag without dashes: prefix `api` and key `bindIp` give `api-bind-ip`. */
export function flagName(prefix: string, key: string): string {
  const kebab = key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  return prefix ? `${prefix}-${kebab}` : kebab;
}

/** The environment variable: `api-bind-ip` gives `API_BIND_IP`. */
export function envName(prefix: string, key: string, setting?: { env?: string }): string {
  return setting?.env ?? flagName(prefix, key).toUpperCase().replaceAll('-', '_');
}

interface Spec<T> {
  default: T;
  doc: string;
}

export function int(spec: Spec<number> & { min?: number; max?: number }): Setting<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = spec;
  return {
    kind: 'number',
    default: spec.default,
    doc: spec.doc,
    accepts: `a whole number${spec.min === undefined ? '' : ` from ${min}`}${spec.max === undefined ? '' : ` to ${max}`}`,
    parse: raw => {
      const value = /^[+-]?\d+$/.test(raw) ? Number(raw) : Number.NaN;
      return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
    },
    print: String,
  };
}

/** As Go's ParseBool: what the compatible API accepts. */
export function parseBool(raw: string): boolean | undefined {
  if (/^(1|t|T|TRUE|true|True)$/.test(raw)) return true;
  if (/^(0|f|F|FALSE|false|False)$/.test(raw)) return false;
  return undefined;
}

export function flag(spec: Spec<boolean>): Setting<boolean> {
  return { ...spec, kind: 'boolean', accepts: 'true or false', parse: parseBool, print: String };
}

const UNIT_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Reads a duration as Go writes it (`1m30s`, `500ms`, `0`) into ms. */
export function parseDuration(raw: string): number | undefined {
  const match = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(raw);
  if (!match) return undefined;
  let ms = 0;
  for (const [, amount, unit] of (match[2] ?? '').matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    ms += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  }
  return match[1] === '-' ? -ms : ms;
}

/** Writes ms as a duration that {@link parseDuration} reads: `90s`, `1m30s`. */
export function printDuration(ms: number): string {
  if (ms < 1000 && ms !== 0) return `${ms}ms`;
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor((ms % 3_600_000) / 60_000), (ms % 60_000) / 1000];
  return `${h ? `${h}h` : ''}${m ? `${m}m` : ''}${s || !(h || m) ? `${s}s` : ''}`;
}

/** A time span; its value is in ms, its default is given as written. */
export function duration(spec: Spec<string> & { min?: string; max?: string }): Setting<number> {
  const min = parseDuration(spec.min ?? '0') ?? 0;
  const max = spec.max === undefined ? Number.POSITIVE_INFINITY : (parseDuration(spec.max) ?? 0);
  return {
    kind: 'duration',
    default: parseDuration(spec.default) ?? 0,
    doc: spec.doc,
    accepts: `a duration such as 30s, 1m30s or 500ms${min > 0 ? `, at least ${spec.min}` : ''}${spec.max ? `, at most ${spec.max}` : ''}`,
    parse: raw => {
      const value = parseDuration(raw);
      return value !== undefined && value >= min && value <= max ? value : undefined;
    },
    print: printDuration,
  };
}

export function text(
  spec: Spec<string> & { secret?: true; accepts?: string; check?: (v: string) => boolean },
): Setting<string> {
  return {
    kind: 'text',
    default: spec.default,
    doc: spec.doc,
    accepts: spec.accepts ?? 'any text',
    parse: raw => (spec.check && !spec.check(raw) ? undefined : raw),
    print: value => value,
    ...(spec.secret && { secret: true }),
  };
}

export function oneOf<const T extends string>(spec: Spec<T> & { of: readonly T[] }): Setting<T> {
  return {
    kind: 'choice',
    default: spec.default,
    doc: spec.doc,
    accepts: `one of ${spec.of.join(', ')}`,
    parse: raw => spec.of.find(option => option === raw),
    print: value => value,
  };
}

const BYTES_UNIT: Record<string, number> = { '': 1, b: 1 };
for (const [power, letter] of ['k', 'm', 'g', 't', 'p', 'e'].entries()) {
  BYTES_UNIT[letter] = BYTES_UNIT[`${letter}b`] = 1000 ** (power + 1);
  BYTES_UNIT[`${letter}i`] = BYTES_UNIT[`${letter}ib`] = 1024 ** (power + 1);
}

/** A size as people write it (`100MB`, `1.5GiB`); its value is in bytes, empty means 0: no limit. */
export function bytes(spec: Spec<string>): Setting<number> {
  const parse = (raw: string): number | undefined => {
    if (raw === '') return 0;
    const match = /^(\d+(?:\.\d+)?) ?([a-z]{0,3})$/i.exec(raw);
    const unit = match && BYTES_UNIT[(match[2] ?? '').toLowerCase()];
    return match && unit ? Math.round(Number(match[1]) * unit) : undefined;
  };
  return {
    kind: 'size',
    default: parse(spec.default) ?? 0,
    doc: spec.doc,
    accepts: 'a size such as 512MB or 2GiB, or nothing for no limit',
    parse,
    print: printBytes,
  };
}

/** Writes bytes as a size that {@link bytes} reads: `512MB`, `2GiB`; empty for 0, which means no limit. */
function printBytes(value: number): string {
  if (value === 0) return '';
  const units = ['GiB', 'MiB', 'KiB', 'GB', 'MB', 'KB', 'B'].map(name => ({
    name,
    of: BYTES_UNIT[name.toLowerCase()] ?? 1,
  }));
  const [unit] = units.filter(({ of }) => value % of === 0).sort((a, b) => b.of - a.of);
  return `${value / (unit?.of ?? 1)}${unit?.name}`;
}

/** Regular expressions separated by commas; a JSON array where one of them has a comma in it. Empty items are dropped. */
export function regexList(spec: Spec<readonly string[]>): Setting<readonly RegExp[]> {
  const compile = (sources: readonly unknown[]): readonly RegExp[] | undefined => {
    try {
      return sources.filter(source => source !== '').map(source => new RegExp(String(source)));
    } catch {
      return undefined;
    }
  };
  const items = (raw: string): unknown[] | undefined => {
    if (!raw.startsWith('["')) return raw.split(',');
    try {
      return JSON.parse(raw);
    } catch {
      return undefined;
    }
  };
  return {
    kind: 'regexes',
    default: compile(spec.default) ?? [],
    doc: spec.doc,
    accepts: 'regular expressions (JavaScript) separated by commas, or a JSON array of them',
    parse: raw => {
      const sources = items(raw);
      return sources && compile(sources);
    },
    print: value => value.map(regex => regex.source).join(','),
  };
}

/** Marks a setting of the compatible API that is still to be built. */
export function planned<T>(setting: Setting<T>): Setting<T> {
  return { ...setting, planned: true };
}

/** Names the environment variable of a setting that does not follow the rule. */
export function fromEnv<T>(env: string, setting: Setting<T>): Setting<T> {
  return { ...setting, env };
}

/** Keeps older flag names of a setting working. */
export function alsoKnownAs<T>(flags: readonly string[], setting: Setting<T>): Setting<T> {
  return { ...setting, aliases: flags };
}

/** Says in words what a default is that depends on the machine. */
export function defaultsTo<T>(words: string, setting: Setting<T>): Setting<T> {
  return { ...setting, defaultText: words };
}
