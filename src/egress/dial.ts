import { connect, type Socket } from 'node:net';
import type { Clock } from '../time/clock.ts';

/** How long an address may keep the next one waiting (RFC 8305, section 5). */
const HEAD_START_MS = 250;
/** A dead address must not eat the whole time of a request that has other things to print. */
const PATIENCE_MS = 10_000;

/**
 * Connects to the first of these addresses that answers: one after the other, each with a short head start. The rest is
 * dropped.
 * @throws the last address's error, `ETIMEDOUT` when none answered in time, or the signal's reason
 */
export function dial(addresses: readonly string[], port: number, clock: Clock, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const trying = new Set<Socket>();
    const left = [...addresses];
    let cancelNext = () => {};
    const cancelLimit = clock.after(PATIENCE_MS, () => fail(new DialTimeout()));
    const stop = () => fail(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    next(new Error('no address to connect to'));

    function next(error: Error): void {
      cancelNext();
      const address = left.shift();
      if (address === undefined) {
        if (trying.size === 0) fail(error);
        return;
      }
      const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
      trying.add(socket);
      socket.once('connect', () => win(socket));
      socket.once('error', reason => {
        trying.delete(socket);
        next(reason);
      });
      cancelNext = clock.after(HEAD_START_MS, () => next(error));
    }

    function win(socket: Socket): void {
      trying.delete(socket);
      socket.removeAllListeners('error');
      settle();
      resolve(socket);
    }

    function fail(error: Error): void {
      settle();
      reject(error);
    }

    function settle(): void {
      cancelNext();
      cancelLimit();
      left.length = 0;
      signal.removeEventListener('abort', stop);
      for (const socket of trying) drop(socket);
      trying.clear();
    }
  });
}

/** Nobody answered at any address. */
class DialTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

function drop(socket: Socket): void {
  socket.removeAllListeners();
  socket.on('error', () => {});
  socket.destroy();
}
