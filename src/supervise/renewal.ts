import type { SupervisorSettings } from './types.ts';

/**
 * Why an instance is due for renewal, or undefined. One that has done nothing yet is never too big: its successor would
 * be as big, for ever.
 */
export function renewalDue(
  settings: Pick<SupervisorSettings, 'restartAfter' | 'maxMemory' | 'maxAge'>,
  instance: { readonly served: number; readonly ageMs: number; readonly residentBytes: number | undefined },
): 'count' | 'memory' | 'age' | undefined {
  if (settings.restartAfter > 0 && instance.served >= settings.restartAfter) return 'count';
  const tooBig = settings.maxMemory > 0 && (instance.residentBytes ?? 0) > settings.maxMemory;
  if (tooBig && instance.served > 0) return 'memory';
  if (settings.maxAge > 0 && instance.ageMs >= settings.maxAge) return 'age';
  return undefined;
}
