import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogSettings } from '../settings/kernel-settings.ts';

/**
 * The service's log: one JSON object a line, its fields named as in the compatible API (`ts` in seconds, `level`, `msg`,
 * `logger`). Whoever logs names what it logs; nothing here ever takes a whole form, environment or command line.
 */
export function createLog({ level }: Pick<LogSettings, 'level'>, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"ts":${Date.now() / 1000}`,
      formatters: { level: label => ({ level: label }) },
    },
    destination,
  );
}

export interface LogDestination extends DestinationStream {
  /** Writes out what is still held back, at once. */
  flushSync(): void;
}

/** Bytes of log that are held while the reader of stderr is slow; more is dropped, so that a full pipe stops no conversion. */
const MOST_HELD = 16 * 1024 * 1024;

/** Standard error, written beside the work and not between it. */
export function standardError(): LogDestination {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: MOST_HELD });
  destination.on('error', () => {}); // EPIPE: nobody reads the log; the service goes on
  return destination;
}
