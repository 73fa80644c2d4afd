import { describe, expect, test } from 'vitest';
import type { EgressRules } from '../../src/egress/egress.ts';
import { EgressPolicy } from '../../src/egress/policy.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { within } from '../helpers/within.ts';

const HOSTS: Record<string, readonly string[]> = {
  'public.example': ['93.184.216.34', '2606:2800:220:1::1'],
  'private.example': ['10.1.2.3'],
  'mixed.example': ['93.184.216.34', '10.1.2.3'],
  'metadata.example': ['::ffff:169.254.169.254'],
};

function policy(rules: Partial<EgressRules> = {}, resolve = async (host: string) => HOSTS[host] ?? []) {
  const all = { allowList: [], denyList: [], denyPrivateIps: false, denyPublicIps: false, ...rules };
  return new EgressPolicy(all, { clock: new FakeClock(), resolve });
}

const judge = (rules: Partial<EgressRules>, url: string) => policy(rules).judge(url, new AbortController().signal);
const tunnel = (rules: Partial<EgressRules>, to: string) => policy(rules).judgeTunnel(to, new AbortController().signal);
const refused = (reason: string) => ({ ok: false, why: 'policy', reason });

describe('without any rule', () => {
  test('a URL is allowed, and pinned to all its addresses', async () => {
    expect(await judge({}, 'http://mixed.example/a')).toEqual({ ok: true, addresses: HOSTS['mixed.example'] });
  });

  test('an address needs no resolving', async () => {
    expect(await judge({}, 'http://127.0.0.1:81/')).toEqual({ ok: true, addresses: ['127.0.0.1'] });
    expect(await judge({}, 'ws://[::1]:81/')).toEqual({ ok: true, addresses: ['::1'] });
  });

  test('a host that is not found is told apart from a refusal', async () => {
    expect(await judge({}, 'http://nowhere.example/')).toMatchObject({ ok: false, why: 'unresolvable' });
    const failing = policy({}, () => Promise.reject(new Error('SERVFAIL')));
    expect(await failing.judge('http://a.example/', new AbortController().signal)).toMatchObject({
      why: 'unresolvable',
    });
  });

  test.each(['file:///etc/passwd', 'ftp://public.example/', 'chrome://version', 'data:text/html,x', 'about:blank'])(
    'the scheme of %s is refused',
    async url => {
      expect(await judge({}, url)).toMatchObject({ ok: false, why: 'policy' });
    },
  );

  test.each(['', 'public.example', 'http://', 'http://[::1', '/a'])('%s is no URL', async url => {
    expect(await judge({}, url)).toMatchObject({ ok: false, why: 'policy', reason: `'${url}' is no URL` });
  });

  test('a URL of endless length is refused before any expression sees it', async () => {
    const verdict = await judge({ allowList: [/./] }, `http://public.example/${'a'.repeat(16 * 1024)}`);
    expect(verdict).toMatchObject({ ok: false, why: 'policy' });
    expect(JSON.stringify(verdict).length).toBeLessThan(500);
  });
});

describe('private addresses forbidden', () => {
  const rules = { denyPrivateIps: true };

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://①②⑦.0.0.1/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://anything.localhost/',
    'http://private.example/',
    'http://metadata.example/latest/meta-data/',
    'ws://10.0.0.1/',
    'wss://private.example/',
    'https://100.100.100.200/',
  ])('%s is refused', async url => {
    const verdict = await judge(rules, url);
    expect(verdict).toMatchObject({ ok: false, why: 'policy' });
    expect(verdict).toHaveProperty('reason', expect.stringMatching(/^'.*' targets a non-public address$/));
  });

  test('one private address among public ones is enough', async () => {
    expect(await judge(rules, 'http://mixed.example/')).toEqual(
      refused("'http://mixed.example/' targets a non-public address"),
    );
  });

  test('the public internet is reached', async () => {
    expect(await judge(rules, 'https://public.example/')).toMatchObject({ ok: true });
  });
});

describe('public addresses forbidden', () => {
  const rules = { denyPublicIps: true };

  test('private ones are reached, public ones are not', async () => {
    expect(await judge(rules, 'http://private.example/')).toMatchObject({ ok: true });
    expect(await judge(rules, 'http://8.8.8.8/')).toEqual(refused("'http://8.8.8.8/' targets a public address"));
    expect(await judge(rules, 'http://mixed.example/')).toMatchObject({ ok: false, why: 'policy' });
  });

  test('with both classes forbidden only what is allowed by name is reached', async () => {
    const both = { denyPublicIps: true, denyPrivateIps: true, allowList: [/^http:\/\/private\.example\//] };
    expect(await judge(both, 'http://private.example/')).toEqual({ ok: true, addresses: undefined });
    expect(await judge({ ...both, allowList: [] }, 'http://private.example/')).toMatchObject({ ok: false });
    expect(await judge({ ...both, allowList: [] }, 'http://public.example/')).toMatchObject({ ok: false });
  });
});

describe('an allow list', () => {
  test('refuses whatever matches none of its expressions', async () => {
    expect(await judge({ allowList: [/^https:/, /intranet/] }, 'http://public.example/')).toEqual(
      refused("'http://public.example/' does not match any expression from the allowed list"),
    );
  });

  test('lets a match pass by name: not resolved, not judged by its address', async () => {
    const unasked = policy({ allowList: [/.+/], denyPrivateIps: true }, () => Promise.reject(new Error('was asked')));
    const verdict = await unasked.judge('http://private.example/', new AbortController().signal);
    expect(verdict).toEqual({ ok: true, addresses: undefined });
  });

  test.each([
    [/^http:\/\/public\.example$/, 'http://public.example/'],
    [/^http:\/\/public\.example:80\//, 'http://public.example/a'],
    [/^https:\/\/public\.example:443$/, 'https://public.example'],
    [/^http:\/\/public\.example\/A\?B$/, 'HTTP://PUBLIC.example/A?B#c'],
    [/^http:\/\/public\.example\/$/, 'http://public.example./'],
  ])('%s is meant for %s', async (pattern, url) => {
    expect(await judge({ allowList: [pattern] }, url)).toEqual({ ok: true, addresses: undefined });
  });

  test('is not taken in by a user name that looks like a host', async () => {
    expect(await judge({ allowList: [/^http:\/\/good\.example/] }, 'http://good.example@evil.example/')).toMatchObject({
      ok: false,
    });
  });

  test('judges the same URL the same each time, whatever flags its expressions have', async () => {
    const judged = policy({ allowList: [/^http:\/\/public\.example\/$/g] });
    for (let time = 0; time < 3; time += 1)
      expect(await judged.judge('http://public.example/', new AbortController().signal)).toMatchObject({ ok: true });
  });
});

describe('a deny list', () => {
  test('refuses a match even if it is allowed', async () => {
    expect(await judge({ allowList: [/.+/], denyList: [/secret/] }, 'http://public.example/secret')).toEqual(
      refused("'http://public.example/secret' matches the expression from the denied list"),
    );
  });

  test('leaves the rest to the class of the address', async () => {
    expect(await judge({ denyList: [/secret/], denyPrivateIps: true }, 'http://private.example/')).toMatchObject({
      ok: false,
    });
    expect(await judge({ denyList: [/secret/] }, 'http://private.example/')).toMatchObject({ ok: true });
  });

  test.each([
    'http://public.example/',
    'http://PUBLIC.example:80/',
    'http://public.example./',
    'http://user:word@public.example/',
    'http://publi%63.example/',
  ])('is not evaded by writing %s', async url => {
    expect(await judge({ denyList: [/^http:\/\/public\.example\//] }, url)).toMatchObject({ ok: false, why: 'policy' });
  });

  test('can forbid passwords in URLs', async () => {
    expect(await judge({ denyList: [/^\w+:\/\/[^/]*@/] }, 'http://user:word@public.example/')).toMatchObject({
      ok: false,
    });
  });

  test('never puts a password into the log', async () => {
    expect(JSON.stringify(await judge({ denyList: [/./] }, 'http://user:word@public.example/'))).not.toContain('word');
  });
});

describe('a tunnel', () => {
  test('is judged by its address like any other URL', async () => {
    expect(await tunnel({ denyPrivateIps: true }, '127.0.0.1:9999')).toEqual(
      refused("'https://127.0.0.1:9999/' targets a non-public address"),
    );
    expect(await tunnel({}, 'nowhere.example:443')).toMatchObject({ ok: false, why: 'unresolvable' });
    expect(await tunnel({}, 'private.example:443')).toEqual({ ok: true, addresses: ['10.1.2.3'] });
  });

  test.each([
    [/^https:\/\/public\.example\//, 'public.example:443'],
    [/^https:\/\/public\.example:443\//, 'public.example:443'],
    [/^https:\/\/public\.example:8443/, 'public.example:8443'],
    [/^ws:\/\/public\.example/, 'public.example:80'],
    [/^ws:\/\/public\.example:8080\//, 'public.example:8080'],
  ])('that %s allows is opened to %s', async (pattern, to) => {
    expect(await tunnel({ allowList: [pattern] }, to)).toMatchObject({ ok: true });
  });

  test.each([
    [/^https:\/\/public\.example\//, 'public.example:8443'],
    [/^ws:\/\/public\.example/, 'public.example:443'],
    [/^https:\/\/other\.example\//, 'public.example:443'],
  ])('that %s does not allow is not opened to %s', async (pattern, to) => {
    expect(await tunnel({ allowList: [pattern] }, to)).toMatchObject({ ok: false, why: 'policy' });
  });

  test.each([
    [/^https:\/\/public\.example\//, 'public.example:443'],
    [/^https:\/\/public\.example:443/, 'public.example:443'],
    [/:8443/, 'public.example:8443'],
  ])('that %s denies is not opened to %s', async (pattern, to) => {
    expect(await tunnel({ denyList: [pattern] }, to)).toMatchObject({ ok: false, why: 'policy' });
  });
});

test('a request that ends while its host is being resolved ends the judgement', async () => {
  const over = new AbortController();
  const judged = policy({}, () => new Promise(() => {})).judge('http://slow.example/', over.signal);
  over.abort(new Error('the client has gone'));
  await expect(within(1000, 'the judgement', judged)).rejects.toThrow('the client has gone');
});
