import { readFile } from 'node:fs/promises';
import type { EgressPolicy } from '../../src/egress/policy.ts';
import { Failure } from '../../src/failure/failure.ts';
import { pageRangesProblem } from '../../src/http/field-kinds.ts';
import type { Upload } from '../../src/http/fields.ts';
import { type ConversionRequest, defineConversion, type Output, type Route } from '../../src/http/route.ts';
import type { ProcessSupervisor } from '../../src/supervise/supervisor.ts';
import type { Browser } from './browser.ts';
import { htmlFields, type PageForm, urlFields } from './fields.ts';
import type { PageJob } from './job.ts';
import { expandStatuses } from './status-codes.ts';

export interface ChromiumTools {
  readonly supervisor: Pick<ProcessSupervisor<Browser>, 'run'>;
  readonly policy: Pick<EgressPolicy, 'byLists'>;
}

export function chromiumRoutes(tools: ChromiumTools): readonly Route[] {
  return [htmlRoute(tools), urlRoute(tools)];
}

export function htmlRoute(tools: ChromiumTools): Route {
  return defineConversion({
    path: '/forms/chromium/convert/html',
    summary: 'Print an HTML page and its assets',
    fields: htmlFields,
    convert: (form, request) => print(tools, { files: form.$files, entry: form['index.html'].path }, form, request),
  });
}

export function urlRoute(tools: ChromiumTools): Route {
  return defineConversion({
    path: '/forms/chromium/convert/url',
    summary: 'Print a web page',
    fields: urlFields,
    async convert(form, request) {
      const url = checkUrl(form.url);
      const verdict = tools.policy.byLists(url);
      if (verdict?.ok === false) {
        request.log.warn(`request blocked: ${verdict.reason}`);
        throw new Failure('FORBIDDEN', { url: url.href });
      }
      return print(tools, { url: url.href }, form, request);
    },
  });
}

/** @throws Failure `URL_FILE_SCHEME`, `URL_INVALID` */
function checkUrl(text: string): URL {
  if (/^\s*file:/i.test(text)) throw new Failure('URL_FILE_SCHEME');
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Failure('URL_INVALID', { url: text });
  return url;
}

async function print(
  { supervisor }: ChromiumTools,
  page: PageJob['page'],
  form: PageForm,
  request: ConversionRequest,
): Promise<readonly Output[]> {
  const output = request.work.next('.pdf');
  const job = await jobOf(page, form, output);
  await request.work.hold(supervisor.run((browser, attempt) => browser.print(job, attempt), request.run));
  return [{ file: output }];
}

/** @throws Failure `PAGE_RANGES_SYNTAX`, as the browser would, only sooner */
async function jobOf(page: PageJob['page'], form: PageForm, output: string): Promise<PageJob> {
  const { nativePageRanges: ranges, singlePage } = form;
  if (ranges !== '' && !singlePage && pageRangesProblem(ranges)) throw new Failure('PAGE_RANGES_SYNTAX', { ranges });
  const [header, footer] = await Promise.all([textOf(form['header.html']), textOf(form['footer.html'])]);
  return {
    page,
    failOnStatus: expandStatuses(form.failOnHttpStatusCodes),
    waits: { expression: form.waitForExpression, selector: form.waitForSelector, delayMs: form.waitDelay },
    media: form.emulatedMediaType,
    print: { ...form, pageRanges: ranges, header, footer },
    output,
  };
}

async function textOf(upload: Upload | undefined): Promise<string | undefined> {
  return upload && readFile(upload.file, 'utf8');
}
