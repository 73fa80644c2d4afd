import { createServer } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { BootFailure } from '../module.ts';
import type { ApiSettings } from '../settings/kernel-settings.ts';
import type { App } from './app.ts';

export interface Listener {
  /** `http://localhost:3000`, with the root path. */
  readonly address: string;
  /** Takes no more connections and ends those that are there, also in the middle of something. */
  close(): Promise<void>;
}

type ListenSettings = Pick<ApiSettings, 'port' | 'bindIp' | 'timeout' | 'rootPath'>;

/** How long a client may take over its headers: nothing else bounds a connection that never says what it wants. */
const HEADERS_MS = 60_000;
/** Longer than the idle time of common load balancers (60 s): they, not we, close an idle connection. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Listens for requests.
 * @throws BootFailure naming the setting to change, where the port or the address can't be had
 */
export async function listen(app: App, settings: ListenSettings, log: Logger): Promise<Listener> {
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      // The request's own time limit ends an upload and tells its client; this only ends what has none, a while later.
      requestTimeout: Math.max(HEADERS_MS, settings.timeout) + 30_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: 64 * 1024,
    },
    app.listener,
  );
  server.on('checkContinue', app.continueListener);
  const { port, bindIp } = settings;
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(bootFailure(error as NodeJS.ErrnoException, port, bindIp)));
    server.listen({ port, ...(bindIp !== '' && { host: bindIp }) }, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', err => log.error({ err }, 'a connection could not be accepted'));
  const bound = server.address();
  const actualPort = typeof bound === 'object' && bound ? bound.port : port;
  return {
    address: `http://${hostOf(bindIp)}:${actualPort}${settings.rootPath.slice(0, -1)}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function hostOf(bindIp: string): string {
  if (['', '0.0.0.0', '::'].includes(bindIp)) return 'localhost';
  return isIPv6(bindIp) ? `[${bindIp}]` : bindIp;
}

function bootFailure(error: NodeJS.ErrnoException, port: number, bindIp: string): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new BootFailure(`Port ${port} is in use. Stop what listens there, or choose another with API_PORT.`);
    case 'EACCES':
      return new BootFailure(
        `Port ${port} needs more rights than this process has. Choose one from 1024 with API_PORT.`,
      );
    case 'EADDRNOTAVAIL':
      return new BootFailure(
        `This machine has no address ${bindIp} to listen on. Change API_BIND_IP, or leave it empty.`,
      );
    default:
      return error;
  }
}
