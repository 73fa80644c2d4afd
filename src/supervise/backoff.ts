/** How long a worker waits before it starts again, by how often in a row it has failed without having done anything. */
export interface BackoffPolicy {
  readonly firstMs: number;
  readonly capMs: number;
}

export const DEFAULT_BACKOFF: BackoffPolicy = { firstMs: 100, capMs: 5000 };

/**
 * The delay before the next start, in ms: none after work was done, else doubling up to the cap. Up to a fifth of it is
 * chance, so that many services that lost the same resource don't come back in step.
 * @param fruitless failures in a row since work was last done: 0 means start at once
 * @param random in [0, 1)
 */
export function restartDelay(policy: BackoffPolicy, fruitless: number, random: number): number {
  if (fruitless <= 0) return 0;
  const full = Math.min(policy.firstMs * 2 ** (fruitless - 1), policy.capMs);
  return Math.round(full * (1 - random / 5));
}
