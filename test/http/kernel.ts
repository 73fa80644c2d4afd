import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../src/http/app.ts';
import { type Listener, listen } from '../../src/http/listener.ts';
import type { Route } from '../../src/http/route.ts';
import { Traffic } from '../../src/http/traffic.ts';
import { createLog } from '../../src/observe/log.ts';
import { type ApiSettings, apiSettings, kernelSettings } from '../../src/settings/kernel-settings.ts';
import { readSettings } from '../../src/settings/read.ts';
import { systemClock } from '../../src/time/clock.ts';
import { createTempRoot, type TempRoot } from '../../src/work/temp-root.ts';
import { within } from '../helpers/within.ts';

type Line = Record<string, unknown>;

/** The HTTP side of the service with routes of a test's own, on a real socket. */
export class Kernel implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly temp: TempRoot;
  readonly traffic: Traffic;
  readonly lines: Line[] = [];
  readonly #listener: Listener;
  readonly #folder: string;
  readonly #watchers = new Set<() => void>();

  private constructor(parts: { listener: Listener; temp: TempRoot; traffic: Traffic; folder: string; lines: Line[] }) {
    this.#listener = parts.listener;
    this.temp = parts.temp;
    this.traffic = parts.traffic;
    this.#folder = parts.folder;
    this.lines = parts.lines;
    this.url = parts.listener.address;
    this.port = Number(new URL(this.url).port);
  }

  static async start(
    routes: readonly Route[],
    settings: Partial<ApiSettings> = {},
    options: { stallMs?: number; webhookDisabled?: boolean } = {},
  ): Promise<Kernel> {
    const folder = await mkdtemp(join(tmpdir(), 'platen-http-test-'));
    const temp = await createTempRoot(folder);
    const traffic = new Traffic();
    const lines: Line[] = [];
    let kernel: Kernel | undefined;
    const log = createLog(
      { level: 'debug' },
      {
        write: line => {
          lines.push(JSON.parse(line));
          for (const look of kernel ? kernel.#watchers : []) look();
        },
      },
    );
    const defaults = readSettings(kernelSettings, { env: {}, args: [] }).of(apiSettings);
    const api = { ...defaults, bindIp: '127.0.0.1', port: 0, ...settings };
    const { stallMs = 60_000, webhookDisabled = false } = options;
    const app = createApp({ routes, settings: api, webhookDisabled, clock: systemClock, temp, traffic, log, stallMs });
    const listener = await listen(app, api, log);
    kernel = new Kernel({ listener, temp, traffic, folder, lines });
    return kernel;
  }

  /** The access line of the request with this id. */
  line(id: string): Promise<Line> {
    const found = new Promise<Line>(resolve => {
      const look = () => {
        const line = this.lines.find(candidate => candidate.correlation_id === id && candidate.log_type === 'access');
        if (!line) return;
        this.#watchers.delete(look);
        resolve(line);
      };
      this.#watchers.add(look);
      look();
    });
    return within(5_000, `the access line of ${id}`, found);
  }

  /** What requests have left on disk once all are over. */
  async leftovers(): Promise<string[]> {
    await within(5_000, 'all requests to be over', this.traffic.drained());
    return (await readdir(this.temp.path)).filter(name => name !== 'owner.json');
  }

  /** Sends bytes as they are and gives all that comes back until the server closes. */
  raw(text: string | Buffer): Promise<string> {
    const socket = this.connect();
    const answer = textOf(socket);
    socket.write(text);
    return within(10_000, 'the answer to end', answer);
  }

  connect(): Socket {
    return connect(this.port, '127.0.0.1').setNoDelay(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** All that a socket receives until it ends; a reset counts as an end. */
export function textOf(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    let text = '';
    socket.setEncoding('latin1').on('data', piece => {
      text += piece;
    });
    socket.on('error', () => {}).on('close', () => resolve(text));
  });
}

/** The parts of a form between boundaries, each given as its headers after `form-data` and its content. */
export function multipart(parts: readonly (readonly [disposition: string, content: string])[], boundary = 'b'): string {
  const body = parts.map(
    ([disposition, content]) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`,
  );
  return `${body.join('')}--${boundary}--\r\n`;
}

/** A request that closes its connection after the answer. */
export function post(path: string, body: string, headers: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    'Content-Type: multipart/form-data; boundary=b',
    `Content-Length: ${bytes.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]);
}
