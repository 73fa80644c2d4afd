import { orAborted } from '../../src/http/request-signal.ts';
import { EngineCrash } from '../../src/supervise/types.ts';
import type { Clock } from '../../src/time/clock.ts';
import { isGone, type Session } from './devtools.ts';

/** One page's time in a lane, as its steps see it. */
export interface Visit {
  readonly tab: Session;
  /** The tab's main frame, the same for all its documents. */
  readonly frameId: string;
  readonly clock: Clock;
  /** Aborts when the request is over, or with an EngineCrash when the tab has died. */
  readonly signal: AbortSignal;
  /**
   * Sends the tab a command.
   * @throws the signal's reason, EngineCrash, or what the browser answers
   */
  readonly send: Session['send'];
}

export function beginVisit(of: Omit<Visit, 'send'>): Visit {
  const send: Session['send'] = async (method, params) => {
    of.signal.throwIfAborted();
    try {
      return await orAborted(of.tab.send(method, params), of.signal);
    } catch (error) {
      if (of.signal.aborted || !(of.tab.detached || isGone(error))) throw error;
      throw new EngineCrash('the tab has gone', { cause: error });
    }
  };
  return { ...of, send };
}
