import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { within } from './within.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

/** The service as its own process, as a user starts it. */
export class Service implements AsyncDisposable {
  readonly url: string;
  /** The folder that the service was given as TMPDIR: empty when it has ended well. */
  readonly temp: string;
  readonly process: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** All it wrote, by line. */
  readonly output: string[] = [];
  readonly #watchers = new Set<() => void>();

  private constructor(process: ChildProcess, url: string, temp: string) {
    this.process = process;
    this.url = url;
    this.temp = temp;
    this.exited = new Promise(resolve => process.once('exit', (code, signal) => resolve({ code, signal })));
    for (const stream of [process.stdout, process.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', line => {
        this.output.push(line);
        for (const watcher of this.#watchers) watcher();
      });
    }
  }

  /** Starts it on a free port and waits until it listens. */
  static async start(settings: Record<string, string> = {}): Promise<Service> {
    const port = await freePort();
    const temp = await mkdtemp(join(tmpdir(), 'platen-test-'));
    const child = spawn(process.execPath, ['src/main.ts'], {
      cwd: ROOT,
      env: { PATH: '/usr/bin:/bin', TMPDIR: temp, API_PORT: String(port), API_BIND_IP: '127.0.0.1', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const service = new Service(child, `http://127.0.0.1:${port}`, temp);
    await within(
      30_000,
      'the service to listen',
      Promise.race([
        service.line(line => line.includes(`:${port}`)),
        service.exited.then(() => Promise.reject(new Error(service.output.join('\n')))),
      ]),
    );
    return service;
  }

  /** The first line, written already or still to come, that answers the question. */
  line(matches: (line: string) => boolean): Promise<string> {
    return new Promise(resolve => {
      const look = () => {
        const found = this.output.find(matches);
        if (found === undefined) return;
        this.#watchers.delete(look);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Posts a form: strings are fields, blobs are files. */
  post(
    path: string,
    parts: readonly FormPart[],
    options: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ) {
    return fetch(this.url + path, { method: 'POST', body: form(parts), ...options });
  }

  get(path: string): Promise<Response> {
    return fetch(this.url + path);
  }

  /** Names of what is left in its temp folder. */
  leftovers(): Promise<string[]> {
    return readdir(this.temp, { recursive: true });
  }

  /** Asks it to stop and waits until it has. */
  async stop(signal: NodeJS.Signals = 'SIGTERM') {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    return within(40_000, 'the service to end', this.exited);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch(() => this.process.kill('SIGKILL'));
    await rm(this.temp, { recursive: true, force: true });
  }
}

/** A field with its value, or a file with its name and content. */
export type FormPart =
  | readonly [field: string, value: string]
  | readonly [field: string, name: string, content: string | Uint8Array<ArrayBuffer>];

export function form(parts: readonly FormPart[]): FormData {
  const data = new FormData();
  for (const [field, value, content] of parts) {
    if (content === undefined) data.append(field, value);
    else data.append(field, new Blob([content]), value);
  }
  return data;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
