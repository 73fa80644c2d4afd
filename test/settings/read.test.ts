import { describe, expect, test } from 'vitest';
import {
  alsoKnownAs,
  bytes,
  duration,
  flag,
  fromEnv,
  int,
  oneOf,
  planned,
  regexList,
  text,
} from '../../src/settings/declare.ts';
import { type ApiSettings, apiSettings, kernelSettings } from '../../src/settings/kernel-settings.ts';
import { readSettings, SettingsInvalid } from '../../src/settings/read.ts';

const group = {
  prefix: 'engine',
  table: {
    maxCount: int({ default: 5, min: 0, max: 10, doc: '' }),
    startTimeout: duration({ default: '20s', min: '1s', doc: '' }),
    enabled: flag({ default: true, doc: '' }),
    denyList: regexList({ default: ['^file:'], doc: '' }),
    limit: bytes({ default: '1MiB', doc: '' }),
    mode: oneOf({ default: 'a', of: ['a', 'b'], doc: '' }),
    password: text({
      default: '',
      secret: true,
      check: value => value.length !== 3,
      accepts: 'not three letters',
      doc: '',
    }),
    header: alsoKnownAs(['engine-old-header'], text({ default: 'X', doc: '' })),
    binPath: fromEnv('BIN_PATH', text({ default: '/bin', doc: '' })),
    later: planned(int({ default: 4, doc: '' })),
  },
} as const;

const read = (env: Record<string, string> = {}, ...args: string[]) => readSettings([group], { env, args }).of(group);
const faults = (env: Record<string, string>, ...args: string[]): readonly string[] => {
  try {
    read(env, ...args);
    return [];
  } catch (error) {
    if (error instanceof SettingsInvalid) return error.faults;
    throw error;
  }
};

test('without anything given everything is at its default', () => {
  expect(read()).toMatchObject({
    maxCount: 5,
    startTimeout: 20_000,
    enabled: true,
    limit: 1024 ** 2,
    mode: 'a',
    later: 4,
  });
});

test('flags are read with = or a space, booleans bare', () => {
  expect(read({}, '--engine-max-count=7', '--engine-mode', 'b', '--engine-enabled').mode).toBe('b');
  expect(read({}, '--engine-enabled=false').enabled).toBe(false);
  expect(read({}, '--engine-password=a=bc').password).toBe('a=bc');
});

test('the variable overrules the flag; of a flag given twice the last counts, of a list all', () => {
  expect(read({ ENGINE_MAX_COUNT: '1' }, '--engine-max-count=2').maxCount).toBe(1);
  expect(read({}, '--engine-max-count=2', '--engine-max-count=3').maxCount).toBe(3);
  const list = read({}, '--engine-deny-list=a', '--engine-deny-list=b,c').denyList;
  expect(list.map(String)).toEqual(['/a/', '/b/', '/c/']);
});

test('an empty variable is the default, but for a list and a text, to which nothing is a value', () => {
  const empty = read({
    ENGINE_MAX_COUNT: '',
    ENGINE_ENABLED: '',
    ENGINE_START_TIMEOUT: '',
    ENGINE_DENY_LIST: '',
    ENGINE_HEADER: '',
    ENGINE_LIMIT: '',
  });
  expect(empty).toMatchObject({ maxCount: 5, enabled: true, startTimeout: 20_000, denyList: [], header: '', limit: 0 });
});

test('a regular expression with a comma fits into a JSON array', () => {
  expect(read({ ENGINE_DENY_LIST: '["a{1,2}", "b"]' }).denyList.map(String)).toEqual(['/a{1,2}/', '/b/']);
});

test('a setting may have a variable of its own', () => {
  expect(read({ BIN_PATH: '/opt' }).binPath).toBe('/opt');
  expect(read({ ENGINE_BIN_PATH: '/opt' }).binPath).toBe('/bin');
});

describe('faults', () => {
  test('are told all at once: what is wrong where, and what is accepted', () => {
    expect(
      faults({ ENGINE_MAX_COUNT: '11', ENGINE_DENY_LIST: '(' }, '--engine-start-timeout=soon', '--engine-mode=c'),
    ).toEqual([
      "ENGINE_MAX_COUNT: '11' is not accepted; wanted: a whole number from 0 to 10",
      "--engine-start-timeout: 'soon' is not accepted; wanted: a duration such as 30s, 1m30s or 500ms, at least 1s",
      "ENGINE_DENY_LIST: '(' is not accepted; wanted: regular expressions (JavaScript) separated by commas, or a JSON array of them",
      "--engine-mode: 'c' is not accepted; wanted: one of a, b",
    ]);
  });

  test('never show a secret', () => {
    expect(faults({ ENGINE_PASSWORD: 'abc' })).toEqual([
      'ENGINE_PASSWORD: the value (not shown) is not accepted; wanted: not three letters',
    ]);
  });

  test('name the nearest option', () => {
    expect(faults({}, '--engine-max-cuont=3', '--nonsense', 'word')).toEqual([
      '--engine-max-cuont is no option of this service; did you mean --engine-max-count?',
      '--nonsense is no option of this service. See --help.',
    ]);
    expect(faults({}, '--engine-max-count')).toEqual(['--engine-max-count needs a value: a whole number from 0 to 10']);
    expect(faults({}, 'word')).toEqual(["'word' is no option; options are written --name=value. See --help."]);
  });

  test('are settings that are planned, unless they ask for what happens anyway', () => {
    expect(faults({ ENGINE_LATER: '5' })).toEqual([
      'ENGINE_LATER is not supported by this version of Platen yet; leave it out, or at 4',
    ]);
    expect(faults({ ENGINE_LATER: '4' }, '--engine-later=4')).toEqual([]);
  });
});

test('an old name still works, warns, and gives way to the new one', () => {
  const settings = readSettings([group], { env: { ENGINE_OLD_HEADER: 'Old' }, args: [] });
  expect(settings.of(group).header).toBe('Old');
  expect(settings.warnings).toEqual(['ENGINE_OLD_HEADER is the old name of --engine-header']);
  expect(read({ ENGINE_OLD_HEADER: 'Old' }, '--engine-header=New').header).toBe('New');
});

test('a variable with a slip in its name is a warning; one of somebody else is none', () => {
  const env = { ENGINE_MAX_COUNTS: '3', ENGINE_SERVICE_HOST: '10.0.0.1', PATH: '/bin' };
  expect(readSettings([group], { env, args: [] }).warnings).toEqual([
    'the variable ENGINE_MAX_COUNTS is passed over; did you mean ENGINE_MAX_COUNT?',
  ]);
});

describe('the settings of the API', () => {
  const api = (env: Record<string, string>): ApiSettings =>
    readSettings(kernelSettings, { env, args: [] }).of(apiSettings);

  test.each([
    ['API_PORT', '0'],
    ['API_PORT', '65536'],
    ['API_BIND_IP', 'localhost'],
    ['API_TIMEOUT', '0'],
    ['API_TIMEOUT', '30'],
    ['API_BODY_LIMIT', '-1'],
    ['API_BODY_LIMIT', '5 apples'],
    ['API_ROOT_PATH', 'foo/'],
    ['API_ROOT_PATH', '/foo'],
    ['API_CORRELATION_ID_HEADER', 'a b'],
    ['API_ENABLE_BASIC_AUTH', 'true'],
  ])('%s=%s is refused', (name, value) => {
    expect(() => api({ [name]: value })).toThrow(name);
  });

  test('read what the compatible API reads', () => {
    expect(
      api({
        API_PORT: '80',
        API_BIND_IP: '::1',
        API_TIMEOUT: '10m',
        API_BODY_LIMIT: '5 MiB',
        API_ROOT_PATH: '/a/b/',
        API_TRACE_HEADER: 'X-Id',
      }),
    ).toMatchObject({
      port: 80,
      bindIp: '::1',
      timeout: 600_000,
      bodyLimit: 5 * 1024 ** 2,
      rootPath: '/a/b/',
      correlationIdHeader: 'X-Id',
    });
  });
});
