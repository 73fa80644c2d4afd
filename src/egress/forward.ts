import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { endToEnd, withHost } from './headers.ts';
import { type LanePassage, type PinnedRequest, portOf } from './passage.ts';

/** Browsers take so much, so a page behind a lavish server still prints. */
export const MAX_HEADER_BYTES = 256 * 1024;

/**
 * Passes one plain-HTTP request on and its answer back, both streamed. Redirects go back like any other answer: the
 * browser follows them, through this door again.
 * @throws the reason of the passage's end
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  passage: LanePassage,
): Promise<void> {
  const reach = await passage.reach(url, 'request');
  if (!reach.ok) return blank(response, reach.status);
  const pinned = pinnedRequest(request, url, reach.addresses, passage);
  const hasBody = 'content-length' in request.headers || 'transfer-encoding' in request.headers;
  send();

  function send(): void {
    const upstream = httpRequest(pinned);
    let answer: IncomingMessage | undefined;
    upstream.once('response', received => {
      answer = received;
      relay(received);
    });
    upstream.on('error', error => {
      if (answer) return;
      // The server closed the kept connection in the moment in which we used it: it never saw the request.
      if (upstream.reusedSocket && !hasBody && isReset(error) && !passage.signal.aborted) return send();
      fail(error);
    });
    response.once('close', () => {
      if (!answer?.complete) upstream.destroy();
    });
    if (hasBody) request.pipe(upstream);
    else upstream.end();
  }

  function relay(answer: IncomingMessage): void {
    const { statusCode: status = 0, statusMessage: statusText = '' } = answer;
    response.sendDate = false;
    try {
      response.writeHead(status, printable(statusText), endToEnd(answer.rawHeaders));
      passage.note(url, { kind: 'answered', status, statusText });
      // An answer that breaks off is cut here too, so the browser knows that it's not whole.
      pipeline(answer, response, () => {});
    } catch (error) {
      answer.destroy();
      fail(error);
    }
  }

  function fail(error: unknown): void {
    passage.fail(url, error);
    blank(response, 502);
  }
}

/** An answer without content: in a frame it must not print a text of ours, or an error page of the browser's. */
export function blank(response: ServerResponse, status: 400 | 403 | 502): void {
  if (response.destroyed) return;
  const page = '<!doctype html>';
  response.writeHead(status, {
    'content-type': 'text/html',
    'content-length': page.length,
    'cache-control': 'no-store',
  });
  response.end(page);
}

/** The request to send on, to one of these addresses and under the name that the URL has. */
export function pinnedRequest(
  request: IncomingMessage,
  url: URL,
  addresses: readonly string[],
  passage: LanePassage,
): PinnedRequest {
  const headers = withHost(endToEnd(request.rawHeaders), url.host);
  if ('transfer-encoding' in request.headers) headers.push('Transfer-Encoding', 'chunked');
  return {
    agent: passage.agent,
    addresses,
    host: url.hostname,
    port: portOf(url),
    method: request.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    headers,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Browsers forgive servers a lot; what is passed on is written anew by our own server.
    insecureHTTPParser: true,
  };
}

function isReset(error: Error): boolean {
  return ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function printable(text: string): string {
  return text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
}
