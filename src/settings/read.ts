import { envName, flagName, type Setting, type SettingsGroup, type SettingsOf, type SettingTable } from './declare.ts';
import { nearest } from './nearest.ts';

/** Where settings come from. A variable overrules a flag. */
export interface SettingsSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command line after the program's name. */
  readonly args: readonly string[];
}

export interface Settings {
  /** The values of one of the groups that were read. */
  of<T extends SettingTable>(group: SettingsGroup<T>): SettingsOf<T>;
  /** What is odd but no fault, for the log. */
  readonly warnings: readonly string[];
}

/** All that is wrong with the settings, one line each: name, value, and what is accepted. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * Reads all settings at once.
 * @throws SettingsInvalid with every fault that there is
 */
export function readSettings(groups: readonly SettingsGroup[], source: SettingsSource): Settings {
  const declared = groups.flatMap(group =>
    Object.entries(group.table).map(([key, setting]) => ({ group, key, setting })),
  );
  const flags = readFlags(
    source.args,
    new Map(declared.flatMap(entry => namesOf(entry).map(name => [name, entry.setting]))),
  );
  const faults = [...flags.faults];
  const warnings: string[] = [];
  const values = new Map<SettingsGroup, Record<string, unknown>>(groups.map(group => [group, {}]));
  for (const entry of declared) {
    const read = readOne(entry, flags.values, source.env, warnings);
    if (read.fault === undefined) (values.get(entry.group) ?? {})[entry.key] = read.value;
    else faults.push(read.fault);
  }
  if (faults.length > 0) throw new SettingsInvalid(faults);
  warnings.push(...misspelt(groups, declared, source.env));
  return {
    of: <T extends SettingTable>(group: SettingsGroup<T>) =>
      Object.freeze(values.get(group as unknown as SettingsGroup) ?? {}) as SettingsOf<T>,
    warnings,
  };
}

interface Declared {
  readonly group: SettingsGroup;
  readonly key: string;
  readonly setting: Setting<unknown>;
}

function namesOf({ group, key, setting }: Declared): string[] {
  return [flagName(group.prefix, key), ...(setting.aliases ?? [])];
}

function readFlags(args: readonly string[], known: ReadonlyMap<string, Setting<unknown>>) {
  const values = new Map<string, string[]>();
  const faults: string[] = [];
  for (let i = 0; i < args.length; i += 1) {
    const [, name, given] = /^--([^=]+)(?:=(.*))?$/s.exec(args[i] ?? '') ?? [];
    const setting = name === undefined ? undefined : known.get(name);
    if (name === undefined) {
      faults.push(`'${args[i]}' is no option; options are written --name=value. See --help.`);
    } else if (setting === undefined) {
      const hint = nearest(name, [...known.keys()]);
      faults.push(`--${name} is no option of this service${hint ? `; did you mean --${hint}?` : '. See --help.'}`);
      if (given === undefined && isValue(args[i + 1])) i += 1;
    } else {
      const value = given ?? (setting.kind === 'boolean' ? 'true' : isValue(args[i + 1]) ? args[++i] : undefined);
      if (value === undefined) faults.push(`--${name} needs a value: ${setting.accepts}`);
      else values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return { values, faults };
}

function isValue(arg: string | undefined): arg is string {
  return arg !== undefined && !arg.startsWith('--');
}

/** What was given for a setting, where from: the variable before the flag, the present name before older ones. */
function givenFor(entry: Declared, flags: ReadonlyMap<string, readonly string[]>, env: SettingsSource['env']) {
  const { group, key, setting } = entry;
  const [present, ...older] = namesOf(entry);
  const names = [
    { flag: present ?? '', variable: envName(group.prefix, key, setting), old: false },
    ...older.map(flag => ({ flag, variable: envName('', flag), old: true })),
  ];
  for (const { flag, variable, old } of names) {
    const raw = env[variable];
    // An empty variable is how compose files leave a setting out: a value only for those to which nothing is one.
    if (raw !== undefined && (raw !== '' || setting.parse('') !== undefined))
      return { name: variable, raws: [raw], old };
    const given = flags.get(flag);
    if (given) return { name: `--${flag}`, raws: given, old };
  }
  return undefined;
}

function readOne(
  entry: Declared,
  flags: ReadonlyMap<string, readonly string[]>,
  env: SettingsSource['env'],
  warnings: string[],
): { value?: unknown; fault?: string } {
  const { setting } = entry;
  const given = givenFor(entry, flags, env);
  if (!given) return { value: setting.default };
  if (given.old) warnings.push(`${given.name} is the old name of --${flagName(entry.group.prefix, entry.key)}`);
  const parsed = given.raws.map(raw => ({ raw, value: setting.parse(raw) }));
  const wrong = parsed.find(({ value }) => value === undefined);
  if (wrong) {
    const shown = setting.secret ? 'the value (not shown)' : `'${wrong.raw}'`;
    return { fault: `${given.name}: ${shown} is not accepted; wanted: ${setting.accepts}` };
  }
  const last = parsed.at(-1)?.value;
  // A list given as several flags is all of them; of anything else the last counts.
  const value = Array.isArray(last) ? parsed.flatMap(({ value }) => value) : last;
  if (setting.planned && setting.print(value) !== setting.print(setting.default)) {
    const shown = setting.print(setting.default);
    return {
      fault: `${given.name} is not supported by this version of Platen yet; leave it out${shown && `, or at ${shown}`}`,
    };
  }
  return { value };
}

/** Variables that nearly have the name of a setting. They can't be faults: the environment belongs to others too. */
function misspelt(
  groups: readonly SettingsGroup[],
  declared: readonly Declared[],
  env: SettingsSource['env'],
): string[] {
  const names = new Set(
    declared.flatMap(entry => [
      envName(entry.group.prefix, entry.key, entry.setting),
      ...(entry.setting.aliases ?? []).map(alias => envName('', alias)),
    ]),
  );
  const prefixes = [...new Set(groups.map(group => `${group.prefix.toUpperCase().replaceAll('-', '_')}_`))];
  return Object.keys(env)
    .filter(name => !names.has(name) && prefixes.some(prefix => name.startsWith(prefix)))
    .map(name => ({ name, hint: nearest(name, [...names]) }))
    .filter(({ hint }) => hint !== undefined)
    .map(({ name, hint }) => `the variable ${name} is passed over; did you mean ${hint}?`);
}
