import type { Logger } from 'pino';
import type { Connection } from 'puppeteer';
import type { EgressPolicy } from '../../src/egress/policy.ts';

/**
 * Has the operator's lists judge every https URL, of all pages, frames and workers of the browser. A door sees only the
 * host of what goes through a tunnel; only the browser knows the whole URL. It costs a round trip for each request, so it
 * is on only where there are lists.
 */
export async function guardLists(
  connection: Connection,
  policy: Pick<EgressPolicy, 'byLists'>,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  connection.on('Fetch.requestPaused', ({ requestId, request }) => {
    const verdict = policy.byLists(new URL(request.url));
    const refused = verdict?.ok === false ? verdict.reason : undefined;
    if (refused) log.warn(`request blocked: ${refused}`);
    const answer = refused
      ? connection.send('Fetch.failRequest', { requestId, errorReason: 'AccessDenied' })
      : connection.send('Fetch.continueRequest', { requestId });
    answer.catch(() => {}); // its page has gone
  });
  await connection.send('Fetch.enable', { patterns: [{ urlPattern: 'https://*' }] });
}
