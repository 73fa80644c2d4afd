import { type CDPSession, type Connection, connect } from 'puppeteer';
import type { Child } from '../../src/process/child.ts';
import { debuggingPipe } from './pipe.ts';

/** Commands and events of one target: a tab, or (without a target) the browser. */
export type Session = CDPSession;

/**
 * The DevTools connection to a browser that was just started. Puppeteer speaks the protocol; its own pages are left out
 * (`targetFilter`): they would switch on far more of the protocol than printing needs, in every tab, at its cost.
 * @throws when the browser ends before it answers
 */
export async function connectTo(child: Child): Promise<Connection> {
  const browser = await connect({
    transport: debuggingPipe(child),
    // A time limit is the request's, never the library's.
    protocolTimeout: 0,
    defaultViewport: null,
    targetFilter: () => false,
  });
  const session = await browser.target().createCDPSession();
  const connection = session.connection();
  if (!connection) throw new Error('the browser closed its connection');
  return connection;
}

/** Whether an error says no more than that its tab, or the whole browser, is no longer there. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && GONE.has(error.name);
}

/** The library exports only one of them by type. */
const GONE = new Set(['ConnectionClosedError', 'TargetCloseError']);

/** Attaches to a target by the library's own means: it detaches from what it didn't attach to itself. */
export async function attach(connection: Connection, targetId: string): Promise<Session> {
  const { targetInfo } = await connection.send('Target.getTargetInfo', { targetId });
  return connection.createSession(targetInfo);
}
