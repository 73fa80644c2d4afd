import type { EngineHandle } from '../module.ts';
import { flagName, type SettingsGroup } from '../settings/declare.ts';
import type { Settings } from '../settings/read.ts';
import type { PlainRoute } from './route.ts';

export interface DebugRouteOptions {
  readonly settings: Settings;
  readonly groups: readonly SettingsGroup[];
  readonly modules: readonly string[];
  readonly engines: readonly EngineHandle[];
  readonly version: string;
  /** Whether the answer says anything: else its keys are there, but empty. */
  readonly telling: boolean;
  readonly quiet: boolean;
}

/** `/debug`: what runs here, and how it is set up, without secrets. */
export function debugRoute(options: DebugRouteOptions): PlainRoute {
  return {
    kind: 'plain',
    method: 'GET',
    path: '/debug',
    summary: 'Versions, settings and the state of the engines',
    quiet: options.quiet,
    handle: async c =>
      c.body(json(options.telling ? await told(options) : NOTHING), 200, { 'Content-Type': 'application/json' }),
  };
}

const NOTHING = {
  version: '',
  timezone: '',
  architecture: '',
  modules: null,
  modules_additional_data: null,
  flags: null,
};

async function told({ settings, groups, modules, engines, version }: DebugRouteOptions) {
  const versions = engines.map(async engine => [engine.id, { version: await engine.version().catch(String) }] as const);
  return {
    version,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    modules: modules.toSorted(),
    modules_additional_data: Object.fromEntries(await Promise.all(versions)),
    flags: Object.fromEntries(groups.flatMap(group => flagsOf(group, settings))),
    engines: Object.fromEntries(engines.map(engine => [engine.id, engine.status()])),
  };
}

function flagsOf(group: SettingsGroup, settings: Settings): (readonly [string, string])[] {
  const values = settings.of(group);
  return Object.entries(group.table).flatMap(([key, setting]) => {
    const printed = setting.secret ? '[redacted]' : withoutCredentials(setting.print(values[key]));
    const value = setting.kind === 'regexes' ? `[${printed}]` : printed;
    return [flagName(group.prefix, key), ...(setting.aliases ?? [])].map(name => [name, value] as const);
  });
}

/** Addresses, of proxies for instance, may hold a name and a password. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s]*@/g, '//[redacted]@');
}

function json(value: unknown): string {
  const escaped = (letter: string) => `\\u00${letter.charCodeAt(0).toString(16)}`;
  return `${JSON.stringify(value, null, 2).replace(/[<>&]/g, escaped)}\n`;
}
