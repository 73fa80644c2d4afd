import type { Connection } from 'puppeteer';
import type { Session } from './devtools.ts';

/**
 * Whether a page without frames and refreshes can do nothing any more, and has kept nothing: no script ran, and none
 * waits for an event. The browser counts that, so no page can pretend it. What scripts of the page before have left to
 * the garbage collector counts too, until it's collected.
 */
export async function isInert(tab: Session): Promise<boolean> {
  const { metrics } = await tab.send('Performance.getMetrics');
  const of = (name: string) => metrics.find(metric => metric.name === name)?.value;
  return of('ScriptDuration') === 0 && of('JSEventListeners') === 0;
}

/** Until a page is left, its timers and workers run on, and its handlers could hold up the next page. */
export async function leave(tab: Session): Promise<void> {
  const { errorText } = await tab.send('Page.navigate', { url: 'about:blank' });
  if (errorText) throw new Error(errorText);
  await tab.send('HeapProfiler.collectGarbage');
}

/** Deletes what a page has kept: the cookies of its whole context, and all that its own origin has stored. */
export async function forget(
  tab: Session,
  connection: Connection,
  { contextId, origin }: { contextId: string; origin: string | undefined },
): Promise<void> {
  await Promise.all([
    connection.send('Storage.clearCookies', { browserContextId: contextId }),
    origin && tab.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' }),
  ]);
}
