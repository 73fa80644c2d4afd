import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Browser, type BrowserOptions } from '../../../modules/chromium/browser.ts';
import type { PageJob, PrintOptions, Waits } from '../../../modules/chromium/job.ts';
import { EgressPolicy } from '../../../src/egress/policy.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { textOf } from '../../helpers/pdf.ts';
import { childrenOf } from '../../helpers/processes.ts';
import { within } from '../../helpers/within.ts';

export const PROGRAM = '/usr/lib/chromium/chromium-headless-shell';
/** No page of these tests needs as long, on a machine as busy as it may be. */
const PAGE_MS = 20_000;

/** A page to print: its HTML, its files by path, or an address. */
export type Page = string | Readonly<Record<string, string | Uint8Array>> | { readonly url: string };

export interface Wishes extends Partial<PrintOptions>, Partial<Waits> {
  readonly media?: PageJob['media'];
  readonly failOnStatus?: readonly number[];
  readonly signal?: AbortSignal;
  readonly output?: string;
}

const DEFAULTS: PrintOptions = {
  landscape: false,
  printBackground: false,
  scale: 1,
  singlePage: false,
  paperWidth: 8.5,
  paperHeight: 11,
  marginTop: 0.39,
  marginBottom: 0.39,
  marginLeft: 0.39,
  marginRight: 0.39,
  pageRanges: '',
  preferCssPageSize: false,
  header: undefined,
  footer: undefined,
};

/** A real browser and a folder for its pages, without supervision: as a lane's page meets it. */
export class Room implements AsyncDisposable {
  readonly browser: Browser;
  readonly folder: string;
  /** What the browser's part of the service has logged. */
  readonly lines: string[];

  private constructor(browser: Browser, folder: string, lines: string[]) {
    this.browser = browser;
    this.folder = folder;
    this.lines = lines;
  }

  /** Makes one; the browser has not started. */
  static async make(options: Partial<BrowserOptions> = {}): Promise<Room> {
    const folder = await mkdtemp(join(tmpdir(), 'platen-room-'));
    const lines: string[] = [];
    const log = (fields: unknown, text?: string) => {
      lines.push(typeof fields === 'string' ? fields : `${text} ${JSON.stringify(fields)}`);
    };
    const rules = { allowList: [], denyList: [], denyPrivateIps: false, denyPublicIps: false };
    const browser = new Browser({
      program: PROGRAM,
      folder: () => mkdtemp(join(folder, 'instance-')),
      lanes: 1,
      isolation: 'origin',
      sandbox: false,
      policy: new EgressPolicy(rules, { clock: systemClock }),
      judgesTunnels: false,
      forbiddenPorts: [],
      log: { warn: log, debug: log } as BrowserOptions['log'],
      clock: systemClock,
      environment: {},
      ...options,
    });
    return new Room(browser, folder, lines);
  }

  /** Makes one and starts its browser. */
  static async open(options: Partial<BrowserOptions> = {}): Promise<Room> {
    const room = await Room.make(options);
    await within(20_000, 'the browser to start', room.browser.start(new AbortController().signal));
    return room;
  }

  /** Prints a page and waits until its lane is clean again; the path of the PDF. */
  async print(page: Page, wishes: Wishes = {}): Promise<string> {
    const { output, clean } = await this.printed(page, wishes);
    await within(PAGE_MS, 'the lane to be clean', clean);
    return output;
  }

  /** Prints a page; `clean` settles later. */
  async printed(page: Page, wishes: Wishes = {}): Promise<{ output: string; clean: Promise<void> }> {
    const job = await this.job(page, wishes);
    const signal = wishes.signal ?? new AbortController().signal;
    const attempt = { id: randomUUID(), signal };
    const { clean } = await within(PAGE_MS, 'a page to be printed', this.browser.print(job, attempt));
    return { output: job.output, clean };
  }

  /** What a page has to say: its printed text, on one line. */
  async say(page: Page, wishes: Wishes = {}): Promise<string> {
    return oneLine(await textOf(await this.print(page, wishes)));
  }

  async job(page: Page, wishes: Wishes = {}): Promise<PageJob> {
    const { media = '', failOnStatus = [], signal: _, output, expression, selector, delayMs, ...print } = wishes;
    return {
      page: await this.#page(page),
      failOnStatus: new Set(failOnStatus),
      waits: { expression: expression ?? '', selector: selector ?? '', delayMs: delayMs ?? 0 },
      media,
      print: { ...DEFAULTS, ...print },
      output: output ?? join(this.folder, `${randomUUID()}.pdf`),
    };
  }

  /** What instances have left on the disk. */
  async leftovers(): Promise<string[]> {
    return (await readdir(this.folder)).filter(name => name.startsWith('instance-'));
  }

  /** CPU time in ms that the browser uses within the next `ms`. */
  async cpuWithin(ms: number): Promise<number> {
    const before = (await this.browser.usage())?.cpuMs ?? 0;
    await new Promise(resolve => setTimeout(resolve, ms));
    return ((await this.browser.usage())?.cpuMs ?? 0) - before;
  }

  /** The browser's renderer processes. */
  async renderers(): Promise<number[]> {
    const children = await childrenOf(this.browser.pid ?? 0);
    const lines = await Promise.all(children.map(pid => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
    return children.filter((_, index) => lines[index]?.includes('--type=renderer'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await within(10_000, 'the browser to stop', this.browser.stop());
    await rm(this.folder, { recursive: true, force: true });
  }

  async #page(page: Page): Promise<PageJob['page']> {
    if (typeof page === 'object' && typeof page.url === 'string') return { url: page.url };
    const contents = typeof page === 'string' ? { 'index.html': html(page) } : (page as Record<string, string>);
    const folder = await mkdtemp(join(this.folder, 'page-'));
    const files = await Promise.all(
      Object.entries(contents).map(async ([path, content]) => {
        const file = join(folder, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content);
        return { path, file };
      }),
    );
    return { files, entry: 'index.html' };
  }
}

/** A whole document around a body. */
export function html(body: string): string {
  return `<!doctype html><meta charset="utf-8"><title>t</title>${body}`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** What a failed promise says, as a code and its facts; the test fails where it doesn't fail. */
export async function failure(work: Promise<unknown>): Promise<{ code?: string; facts?: Record<string, unknown> }> {
  return work.then(
    () => {
      throw new Error('it should have failed');
    },
    error => error,
  );
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A web site on a port of this machine, for pages by URL and for what pages fetch from elsewhere. */
export class Site implements AsyncDisposable {
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, answers: Readonly<Record<string, string | Answer>>) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const path = (request.url ?? '').replace(/\?.*/, '');
      this.asked.push(request.url ?? '');
      const answer = answers[path];
      if (typeof answer === 'function') return answer(request, response);
      response.writeHead(answer === undefined ? 404 : 200, {
        'content-type': 'text/html; charset=utf-8',
        'access-control-allow-origin': '*',
      });
      response.end(answer === undefined ? 'not found' : html(answer));
    });
  }

  static async open(answers: Readonly<Record<string, string | Answer>>): Promise<Site> {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return new Site(server, answers);
  }

  url(path: string, host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
