import { expect, test } from 'vitest';
import { debugRoute } from '../../src/http/debug-route.ts';
import type { EngineHandle } from '../../src/module.ts';
import { text } from '../../src/settings/declare.ts';
import { kernelSettings } from '../../src/settings/kernel-settings.ts';
import { readSettings } from '../../src/settings/read.ts';
import { Kernel } from './kernel.ts';

const own = {
  prefix: 'own',
  table: {
    key: text({ default: 'hush', secret: true, doc: '' }),
    proxy: text({ default: 'http://me:pw@x<y', doc: '' }),
  },
};
const engine = { id: 'one', version: async () => '7', status: () => ({ queueSize: 2 }) } as unknown as EngineHandle;
const groups = [...kernelSettings, own];
const debug = async (telling: boolean) => {
  const settings = readSettings(groups, { env: {}, args: [] });
  const route = debugRoute({
    settings,
    groups,
    modules: ['b', 'a'],
    engines: [engine],
    version: '1',
    telling,
    quiet: true,
  });
  await using kernel = await Kernel.start([route]);
  return (await fetch(`${kernel.url}/debug`)).text();
};

test('/debug tells settings as texts, and no secret', async () => {
  const body = await debug(true);
  expect(body).not.toMatch(/hush|me:pw|</);
  expect(JSON.parse(body)).toMatchObject({
    version: '1',
    modules: ['a', 'b'],
    modules_additional_data: { one: { version: '7' } },
    flags: {
      'own-key': '[redacted]',
      'own-proxy': 'http://[redacted]@x<y',
      'api-timeout': '30s',
      'log-format': 'auto',
      'webhook-deny-list': '[]',
    },
    engines: { one: { queueSize: 2 } },
  });
});

test('/debug without data has empty keys', async () => {
  expect(JSON.parse(await debug(false))).toEqual({
    version: '',
    timezone: '',
    architecture: '',
    modules: null,
    modules_additional_data: null,
    flags: null,
  });
});
