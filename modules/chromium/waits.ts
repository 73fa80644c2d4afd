import type { Protocol } from 'puppeteer';
import { Failure } from '../../src/failure/failure.ts';
import { EngineCrash } from '../../src/supervise/types.ts';
import { sleep } from '../../src/time/clock.ts';
import type { Waits } from './job.ts';
import type { Visit } from './visit.ts';

/** The first pauses between two looks at a page are short, as most pages are ready soon; ms. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/**
 * Waits for what the client asked to wait for, one thing after the other.
 * @throws Failure `EXPRESSION_FAILED`, `SELECTOR_FAILED`; the signal's reason
 */
export async function waitFor({ expression, selector, delayMs }: Waits, visit: Visit): Promise<void> {
  if (expression !== '') {
    await poll(visit, async () => {
      const { result, exceptionDetails } = await evaluate(visit, expression);
      // null is "not yet" in the compatible API; anything else but a boolean is a mistake in the expression.
      if (exceptionDetails || !(result.type === 'boolean' || result.subtype === 'null')) {
        throw new Failure('EXPRESSION_FAILED', { expression, why: describe(result, exceptionDetails) });
      }
      return result.value === true;
    });
  }
  if (selector !== '') {
    await poll(visit, async () => {
      const { result, exceptionDetails } = await evaluate(visit, isVisible(selector));
      if (exceptionDetails) throw new Failure('SELECTOR_FAILED', { selector, why: describe(result, exceptionDetails) });
      return result.value === true;
    });
  }
  if (delayMs > 0) await sleep(visit.clock, delayMs, visit.signal);
}

/** Looks at once, then again and again. */
async function poll(visit: Visit, look: () => Promise<boolean>): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; !(await look()); pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    await sleep(visit.clock, pause, visit.signal);
  }
}

const NOT_YET: Protocol.Runtime.EvaluateResponse = { result: { type: 'boolean', value: false } };

/** A page that goes elsewhere in that moment has no answer yet. */
async function evaluate(visit: Visit, expression: string): Promise<Protocol.Runtime.EvaluateResponse> {
  try {
    return await visit.send('Runtime.evaluate', { expression, awaitPromise: true });
  } catch (error) {
    if (visit.signal.aborted || error instanceof EngineCrash) throw error;
    return NOT_YET;
  }
}

/** JavaScript that tells whether the first element of the selector has a box; throws for what is no selector. */
function isVisible(selector: string): string {
  return `(element => element !== null && Boolean(
    element.offsetWidth || element.offsetHeight || element.getClientRects().length
  ))(document.querySelector(${JSON.stringify(selector)}))`;
}

function describe(result: Protocol.Runtime.RemoteObject, exception?: Protocol.Runtime.ExceptionDetails): string {
  if (!exception) return `its value is ${result.description ?? result.type}`;
  return exception.exception?.description ?? exception.text;
}
