import { readFile, rm } from 'node:fs/promises';
import type { EgressPolicy } from '../../src/egress/policy.ts';
import { Failure } from '../../src/failure/failure.ts';
import type { Upload } from '../../src/http/fields.ts';
import { type ConversionRequest, defineConversion, type Output, type Route } from '../../src/http/route.ts';
import type { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import type { Browser } from './browser.ts';
import { htmlFields, type PageForm, urlFields } from './fields.ts';
import { hostFor, type PageJob } from './lane.ts';
import type { Isolation } from './settings.ts';
import { siteOf, unguessableHost } from './site.ts';

export interface ChromiumTools {
  readonly supervisor: Pick<ProcessSupervisor<Browser>, 'run'>;
  readonly policy: EgressPolicy;
  readonly isolation: Isolation;
}

export function chromiumRoutes(tools: ChromiumTools): readonly Route[] {
  return [htmlRoute(tools), urlRoute(tools)];
}

export function htmlRoute(tools: ChromiumTools): Route {
  return defineConversion({
    path: '/forms/chromium/convert/html',
    summary: 'Print an HTML page and its assets',
    fields: htmlFields,
    async convert(form, request) {
      const host = hostFor(tools.isolation, unguessableHost);
      const site = siteOf(form.$files, form['index.html'], host);
      return print(tools, { url: `http://${host}/index.html`, site }, form, request);
    },
  });
}

export function urlRoute(tools: ChromiumTools): Route {
  return defineConversion({
    path: '/forms/chromium/convert/url',
    summary: 'Print a web page',
    fields: urlFields,
    async convert(form, request) {
      const url = checkUrl(form.url);
      const verdict = await tools.policy.judge(url, request.signal);
      if (!verdict.ok && verdict.why === 'unresolvable') {
        throw new Failure('PAGE_LOAD_FAILED', { error: 'net::ERR_NAME_NOT_RESOLVED' });
      }
      if (!verdict.ok) {
        request.log.warn({ url, reason: verdict.reason }, 'refused by the egress rules');
        throw new Failure('FORBIDDEN', { url });
      }
      return print(tools, { url, site: undefined }, form, request);
    },
  });
}

/** @throws Failure `URL_FILE_SCHEME`, `URL_INVALID` */
function checkUrl(url: string): string {
  if (/^\s*file:/i.test(url)) throw new Failure('URL_FILE_SCHEME');
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new Failure('URL_INVALID', { url });
  return parsed.href;
}

async function print(
  { supervisor }: ChromiumTools,
  page: Pick<PageJob, 'url' | 'site'>,
  form: PageForm,
  request: ConversionRequest,
): Promise<readonly Output[]> {
  const output = request.work.next('.pdf');
  const [header, footer] = await Promise.all([textOf(form['header.html']), textOf(form['footer.html'])]);
  const job: PageJob = {
    ...page,
    waits: form,
    media: form.emulatedMediaType,
    failOnHttpStatusCodes: form.failOnHttpStatusCodes,
    print: { ...form, header, footer },
    output,
  };
  const work = supervisor.run(async (browser, attempt) => {
    if (attempt.number > 1) await rm(output, { force: true });
    return browser.print(job, attempt);
  }, request.run);
  await request.work.hold(work);
  return [{ file: output }];
}

async function textOf(upload: Upload | undefined): Promise<string | undefined> {
  return upload && readFile(upload.file, 'utf8');
}
