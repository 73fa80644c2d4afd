import type { CDPSession } from 'puppeteer';
import { Failure } from '../../src/failure/failure.ts';
import { type Clock, sleep } from '../../src/time/clock.ts';

/** How often a condition is looked at, in ms: a page's own clock ticks no finer once a few timers are nested. */
const LOOK_MS = 20;

export interface Waits {
  readonly waitForExpression: string;
  readonly waitForSelector: string;
  /** ms */
  readonly waitDelay: number;
}

/**
 * Waits for all that was asked for, in the documented order: expression, selector, delay.
 * @throws Failure `EXPRESSION_FAILED`, `SELECTOR_FAILED`; the signal's reason
 */
export async function waitUntilReady(
  session: CDPSession,
  waits: Waits,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { waitForExpression: expression, waitForSelector: selector, waitDelay } = waits;
  if (expression) {
    const failure = () => new Failure('EXPRESSION_FAILED', { expression });
    await until(() => evaluateBoolean(session, expression, failure), clock, signal);
  }
  if (selector) {
    const failure = () => new Failure('SELECTOR_FAILED', { selector });
    await until(() => evaluateBoolean(session, isVisible(selector), failure), clock, signal);
  }
  if (waitDelay > 0) await sleep(clock, waitDelay, signal);
}

async function until(condition: () => Promise<boolean>, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!(await condition())) await sleep(clock, LOOK_MS, signal);
}

/** The expression's value, which must be true or false; null counts as not yet true. */
async function evaluateBoolean(session: CDPSession, expression: string, failure: () => Failure): Promise<boolean> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    returnByValue: true,
    awaitPromise: true,
  });
  if (result.subtype === 'null' && !exceptionDetails) return false;
  if (exceptionDetails || typeof result.value !== 'boolean') throw failure();
  return result.value;
}

const isVisible = (selector: string): string => `(() => {
  const element = document.querySelector(${JSON.stringify(selector)});
  return element !== null && (element.offsetWidth || element.offsetHeight || element.getClientRects().length) > 0;
})()`;
