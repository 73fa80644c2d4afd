import type { SupervisorSettings } from './types.ts';

export type RenewalReason = 'count' | 'memory' | 'age';

/** Why an instance is due for renewal, or undefined. */
export function renewalDue(
  settings: Pick<SupervisorSettings, 'restartAfter' | 'maxMemory' | 'maxAge'>,
  instance: { readonly served: number; readonly ageMs: number; readonly residentBytes: number | undefined },
): RenewalReason | undefined {
  if (settings.restartAfter > 0 && instance.served >= settings.restartAfter) return 'count';
  if (settings.maxMemory > 0 && (instance.residentBytes ?? 0) > settings.maxMemory) return 'memory';
  if (settings.maxAge > 0 && instance.ageMs >= settings.maxAge) return 'age';
  return undefined;
}
