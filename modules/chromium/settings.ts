import { flag, fromEnv, int, oneOf, planned, regexList, type SettingsOf, text } from '../../src/settings/declare.ts';
import { engineSettings } from '../../src/settings/engine-settings.ts';

export const ENGINE_NAME = 'Chromium';

/** As in the compatible API. It forbids nothing here that would be possible: no page ever gets a `file:` URL to load. */
export const DEFAULT_DENY_LIST = '^file:(?!//\\/tmp/).*';

const off = (doc: string) => planned(flag({ default: false, doc }));
const always = (what: string) =>
  flag({ default: false, doc: `Clear ${what} before each page. This is so anyway, unless nothing keeps pages apart.` });

export const chromiumSettings = {
  disableRoutes: flag({ default: false, doc: 'Leave out all /forms/chromium routes.' }),
  ...engineSettings(ENGINE_NAME, { instances: 1, restartAfter: 1000, maxMemory: '2GiB' }),
  maxConcurrency: int({ default: 6, min: 1, doc: 'Pages at once in one browser: its lanes.' }),
  isolation: oneOf({
    default: 'origin',
    of: ['origin', 'process', 'none'],
    doc: 'What keeps requests apart: a new origin and no state left (origin), a fresh renderer process too (process), or nothing (none: for benchmarks and closed worlds).',
  }),
  allowList: regexList({
    default: [],
    doc: 'What pages may fetch: a URL must match one of these, unless there are none.',
  }),
  denyList: regexList({
    default: [DEFAULT_DENY_LIST],
    doc: 'What pages may not fetch, even if allowed. Local files are never served, whatever this says.',
  }),
  denyPrivateIps: flag({ default: false, doc: 'Forbid pages every address that is not public.' }),
  denyPublicIps: flag({ default: false, doc: 'Forbid pages every public address.' }),
  sandbox: oneOf({
    default: 'auto',
    of: ['auto', 'on', 'off'],
    doc: "Chromium's own sandbox: where it works (auto), or the start fails without it (on), or never (off).",
  }),
  binPath: fromEnv(
    'CHROMIUM_BIN_PATH',
    text({
      default: '/usr/lib/chromium/chromium-headless-shell',
      doc: 'The browser. Name the program itself: a wrapper script would outlive the service.',
      accepts: 'an absolute path',
      check: path => path.startsWith('/'),
    }),
  ),

  allowInsecureLocalhost: off('Accept invalid certificates of localhost.'),
  ignoreCertificateErrors: off('Accept invalid certificates.'),
  disableWebSecurity: off('Switch the same-origin policy off.'),
  allowFileAccessFromFiles: off('Let file: URLs read others; pages here are never file: URLs.'),
  hostResolverRules: planned(text({ default: '', doc: 'Rules for resolving host names.' })),
  proxyServer: planned(text({ default: '', doc: 'A proxy for all that pages fetch.' })),
  enableEnvironmentProxy: off('Use HTTP_PROXY, HTTPS_PROXY and NO_PROXY.'),
  clearCache: always('the cache'),
  clearCookies: always('cookies'),
  clearStorage: always('storage'),
  disableJavascript: off('Run no scripts.'),
  incognito: flag({ default: false, doc: 'Accepted without effect, as in the compatible API.' }),
};

export type ChromiumSettings = SettingsOf<typeof chromiumSettings>;
export type Isolation = ChromiumSettings['isolation'];
