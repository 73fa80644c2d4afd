import { isIP } from 'node:net';
import {
  alsoKnownAs,
  bytes,
  duration,
  flag,
  int,
  oneOf,
  planned,
  regexList,
  type SettingsOf,
  text,
} from './declare.ts';

const anyUrl = { default: [] as readonly string[] };

/** The listener and what it takes. */
export const apiSettings = {
  prefix: 'api',
  table: {
    port: int({ default: 3000, min: 1, max: 65535, doc: 'The port to listen on.' }),
    portFromEnv: planned(text({ default: '', doc: 'The name of an environment variable that holds the port.' })),
    bindIp: text({
      default: '',
      doc: 'The IP address to listen on; empty means all.',
      accepts: 'an IP address such as 127.0.0.1 or ::1, or nothing for all',
      check: ip => ip === '' || isIP(ip) > 0,
    }),
    tlsCertFile: planned(text({ default: '', doc: 'The certificate for HTTPS.' })),
    tlsKeyFile: planned(text({ default: '', doc: 'The key of the certificate.' })),
    startTimeout: duration({
      default: '30s',
      min: '1ms',
      doc: 'After so long, engines that start with the service and are not ready yet are reported in the log. The service goes on trying; /readyz tells.',
    }),
    timeout: duration({
      default: '30s',
      min: '1ms',
      doc: "How long a request may take, from its headers to the first byte of its answer: upload, queue and an engine's start included.",
    }),
    bodyLimit: bytes({
      default: '',
      doc: 'The most that the files and values of a request may hold; empty means no limit.',
    }),
    rootPath: text({
      default: '/',
      doc: 'What all paths begin with.',
      accepts: 'a path that starts and ends with /',
      check: path => /^\/(?:[\w.~-]+\/)*$/.test(path),
    }),
    correlationIdHeader: alsoKnownAs(
      ['api-trace-header'],
      text({
        default: 'Gotenberg-Trace',
        doc: 'The header that carries the id of a request; read, logged and echoed.',
        accepts: 'the name of a header',
        check: name => /^[!#$%&'*+.^_`|~\w-]+$/.test(name),
      }),
    ),
    enableBasicAuth: planned(flag({ default: false, doc: 'Ask for a user name and a password.' })),
    enableOidcAuth: planned(flag({ default: false, doc: 'Ask for a bearer token of an OpenID Connect issuer.' })),
    oidcIssuer: planned(text({ default: '', doc: 'The issuer whose tokens are accepted.' })),
    oidcAudience: planned(text({ default: '', doc: 'The audience that tokens must be for.' })),
    oidcJwksUrl: planned(text({ default: '', doc: "The address of the issuer's keys; empty means: ask the issuer." })),
    downloadFromAllowList: planned(regexList({ ...anyUrl, doc: 'URLs that downloadFrom may fetch.' })),
    downloadFromDenyList: planned(regexList({ ...anyUrl, doc: 'URLs that downloadFrom may not fetch.' })),
    downloadFromDenyPrivateIps: planned(flag({ default: false, doc: 'Let downloadFrom reach no private address.' })),
    downloadFromDenyPublicIps: planned(flag({ default: false, doc: 'Let downloadFrom reach no public address.' })),
    downloadFromEnableEnvironmentProxy: planned(
      flag({ default: false, doc: 'Let downloadFrom use HTTP_PROXY, HTTPS_PROXY and NO_PROXY.' }),
    ),
    downloadFromMaxRetry: planned(int({ default: 4, min: 0, doc: 'Attempts of downloadFrom after the first.' })),
    disableDownloadFrom: flag({ default: false, doc: 'Pass over the form field downloadFrom.' }),
    disableHealthCheckRouteTelemetry: alsoKnownAs(
      ['api-disable-health-check-logging'],
      flag({ default: true, doc: 'Leave requests to /health, /livez and /readyz out of the access log.' }),
    ),
    disableRootRouteTelemetry: flag({ default: true, doc: 'Leave requests to / out of the access log.' }),
    disableDebugRouteTelemetry: flag({ default: true, doc: 'Leave requests to /debug out of the access log.' }),
    disableVersionRouteTelemetry: flag({ default: true, doc: 'Leave requests to /version out of the access log.' }),
    enableDebugRoute: flag({ default: false, doc: 'Offer /debug: versions, settings without secrets, engines.' }),
  },
} as const;

export const coreSettings = {
  prefix: 'gotenberg',
  table: {
    hideBanner: flag({ default: false, doc: 'Accepted without effect: there is no banner.' }),
    gracefulShutdownDuration: duration({
      default: '30s',
      doc: 'How long running work may go on after SIGTERM or SIGINT.',
    }),
    buildDebugData: flag({ default: true, doc: 'Whether /debug says anything; else its keys are empty.' }),
  },
} as const;

export const logSettings = {
  prefix: 'log',
  table: {
    level: oneOf({ default: 'info', of: ['error', 'warn', 'info', 'debug'], doc: 'The least important lines to log.' }),
    fieldsPrefix: planned(text({ default: '', doc: "What the log's own field names begin with." })),
    stdFormat: alsoKnownAs(
      ['log-format'],
      oneOf({ default: 'auto', of: ['auto', 'json'], doc: 'The form of log lines; both mean one JSON object a line.' }),
    ),
    stdEnableGcpFields: planned(
      alsoKnownAs(
        ['log-enable-gcp-fields'],
        flag({ default: false, doc: 'Name fields as Google Cloud expects them.' }),
      ),
    ),
    stdLevelCase: planned(oneOf({ default: 'lower', of: ['lower', 'upper'], doc: 'How levels are written.' })),
  },
} as const;

export const webhookSettings = {
  prefix: 'webhook',
  table: {
    enableSyncMode: planned(flag({ default: false, doc: 'Deliver before the answer.' })),
    allowList: planned(regexList({ ...anyUrl, doc: 'URLs that may be called.' })),
    denyList: planned(regexList({ ...anyUrl, doc: 'URLs that may not be called.' })),
    errorAllowList: planned(regexList({ ...anyUrl, doc: 'URLs that may be called with errors.' })),
    errorDenyList: planned(regexList({ ...anyUrl, doc: 'URLs that may not be called with errors.' })),
    denyPrivateIps: planned(flag({ default: false, doc: 'Call no private address.' })),
    denyPublicIps: planned(flag({ default: false, doc: 'Call no public address.' })),
    enableEnvironmentProxy: planned(flag({ default: false, doc: 'Use HTTP_PROXY, HTTPS_PROXY and NO_PROXY.' })),
    maxRetry: planned(int({ default: 4, min: 0, doc: 'Attempts after the first.' })),
    retryMinWait: planned(duration({ default: '1s', doc: 'The shortest pause between attempts.' })),
    retryMaxWait: planned(duration({ default: '30s', doc: 'The longest pause between attempts.' })),
    clientTimeout: planned(duration({ default: '30s', doc: 'How long one attempt may take.' })),
    disable: flag({ default: false, doc: 'Pass over the webhook headers.' }),
  },
} as const;

export const prometheusSettings = {
  prefix: 'prometheus',
  table: {
    namespace: text({
      default: 'gotenberg',
      doc: 'What the names of the compatible metrics begin with.',
      accepts: 'a name of letters, digits and _ that starts with no digit',
      // Empty is refused at start, but only where metrics are collected.
      check: name => /^(?:[A-Za-z_]\w*)?$/.test(name),
    }),
    collectInterval: duration({
      default: '1s',
      doc: 'Accepted without effect: metrics are read when they are asked for.',
    }),
    metricsPath: text({
      default: '/prometheus/metrics',
      doc: 'Where the compatible metrics are, under the root path.',
      accepts: 'a path that starts with /, such as /prometheus/metrics',
      check: path => /^(?:\/[\w.~-]+)+$/.test(path),
    }),
    disableCollect: flag({ default: false, doc: 'Offer no metrics, neither the compatible ones nor /metrics.' }),
    disableRouteTelemetry: alsoKnownAs(
      ['prometheus-disable-route-logging'],
      flag({ default: true, doc: 'Leave requests for metrics out of the access log.' }),
    ),
  },
} as const;

/** All groups that belong to no module, in the order of `--help`. */
export const kernelSettings = [apiSettings, coreSettings, logSettings, webhookSettings, prometheusSettings] as const;

export type ApiSettings = SettingsOf<typeof apiSettings.table>;
export type CoreSettings = SettingsOf<typeof coreSettings.table>;
export type PrometheusSettings = SettingsOf<typeof prometheusSettings.table>;
export type LogSettings = SettingsOf<typeof logSettings.table>;
