import { envName, flagName, type Setting, type SettingsGroup } from './declare.ts';

interface Row {
  readonly flag: string;
  readonly env: string;
  readonly setting: Setting<unknown>;
  readonly shownDefault: string;
}

/** What `--help` prints: every option that works, with its default. */
export function helpText(groups: readonly SettingsGroup[]): string {
  const lines = ['Usage: node src/main.ts [--name=value …]', ''];
  lines.push('Each option is also an environment variable, which wins: --api-port=3001 or API_PORT=3001.', '');
  for (const group of groups) {
    const rows = rowsOf(group).filter(row => !row.setting.planned);
    if (rows.length === 0) continue;
    for (const { flag, env, setting, shownDefault } of rows) {
      lines.push(`  --${flag}=${shownDefault}`);
      lines.push(...wrap(setting.doc, 110).map(line => `        ${line}`));
      lines.push(`        ${env}: ${setting.accepts}`);
    }
    lines.push('');
  }
  lines.push('  --help, --version');
  return lines.join('\n');
}

/** The page `docs/settings.md`. */
export function settingsPage(groups: readonly SettingsGroup[]): string {
  const parts = [
    '# Settings',
    '',
    'Every setting is a flag and an environment variable; the variable wins. A boolean flag may stand without a value. Durations are',
    'written like `30s`, `1m30s` or `500ms`, sizes like `512MB` or `2GiB`. An empty variable means the default, but for texts, sizes and',
    'lists, to which it is a value. All faults are reported at once, before anything starts.',
    '',
    'This page is made from the tables of settings (`npx vitest run test/settings -u` writes it anew).',
  ];
  for (const group of groups) {
    const rows = rowsOf(group);
    parts.push('', `## ${group.prefix}`, '', '| flag | variable | default | |', '|---|---|---|---|');
    const there = rows.filter(row => !row.setting.planned);
    for (const { flag, env, setting, shownDefault } of there) {
      const older = setting.aliases ? ` Also \`${setting.aliases.map(alias => `--${alias}`).join('`, `')}\`.` : '';
      const plain = setting.kind === 'boolean' || setting.accepts === 'any text';
      const words = `${setting.doc}${plain ? '' : ` Accepts ${setting.accepts}.`}${older}`;
      parts.push(`| \`--${flag}\` | \`${env}\` | ${shownDefault && code(shownDefault)} | ${cell(words)} |`);
    }
    const later = rows.filter(row => row.setting.planned).map(row => `\`${row.flag}\``);
    if (later.length > 0)
      parts.push('', `Planned, and refused at start unless left at the default: ${later.join(', ')}.`);
  }
  return `${parts.join('\n')}\n`;
}

function rowsOf(group: SettingsGroup): Row[] {
  return Object.entries(group.table).map(([key, setting]) => ({
    flag: flagName(group.prefix, key),
    env: envName(group.prefix, key, setting),
    setting,
    shownDefault: setting.defaultText ?? setting.print(setting.default),
  }));
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
