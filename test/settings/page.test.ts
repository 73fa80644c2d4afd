import { expect, test } from 'vitest';
import { modules } from '../../modules/index.ts';
import { kernelSettings } from '../../src/settings/kernel-settings.ts';
import { helpText, settingsPage } from '../../src/settings/print.ts';

const groups = [...kernelSettings, ...modules.map(module => module.settings)];

test('docs/settings.md says what the tables say (`npx vitest run test/settings -u` writes it)', async () => {
  await expect(settingsPage(groups)).toMatchFileSnapshot('../../docs/settings.md');
});

test('--help shows each option that works, with its default and its variable, and no other', () => {
  const help = helpText(groups);
  expect(help).toContain(
    '  --api-port=3000\n        The port to listen on.\n        API_PORT: a whole number from 1 to 65535',
  );
  expect(help).not.toContain('--webhook-max-retry');
  for (const line of help.split('\n')) expect(line.length).toBeLessThan(160);
});

test('no two settings share a flag or a variable', () => {
  const names = [...settingsPage(groups).matchAll(/^\| `(--[\w-]+)` \| `(\w+)`/gm)].map(match => match[1]);
  expect(names.length).toBeGreaterThan(20);
  expect(new Set(names).size).toBe(names.length);
});
