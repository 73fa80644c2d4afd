import type { ConnectionTransport } from 'puppeteer';
import type { Child } from '../../src/process/child.ts';

/**
 * The DevTools protocol over the two pipes of `--remote-debugging-pipe`: we write to the browser's file descriptor 3 and
 * read from its 4; messages end with a zero byte. No port, so nobody else can connect; and the browser ends when the
 * pipes close, however the service ends.
 */
export function debuggingPipe(child: Child): ConnectionTransport {
  const toBrowser = child.pipe(3);
  const fromBrowser = child.pipe(4);
  let pieces: Buffer[] = [];
  const transport: ConnectionTransport = {
    send: message => void toBrowser.write(`${message}\0`),
    close: () => toBrowser.end(),
  };
  fromBrowser.on('data', (piece: Buffer) => {
    let start = 0;
    for (let end = piece.indexOf(0); end >= 0; end = piece.indexOf(0, start)) {
      const last = piece.subarray(start, end);
      const message = pieces.length > 0 ? Buffer.concat([...pieces, last]) : last;
      pieces = [];
      start = end + 1;
      transport.onmessage?.(message.toString('utf8'));
    }
    if (start < piece.length) pieces.push(piece.subarray(start));
  });
  fromBrowser.on('close', () => transport.onclose?.());
  return transport;
}

/** Calls back when the browser can't be talked to any more, which may be a while before its end is noticed. */
export function oncePipeCloses(child: Child, tell: () => void): void {
  child.pipe(4).once('close', tell);
}
