import { expect, test } from 'vitest';
import { chaos } from './run.ts';

test('while engines are killed and stopped, hostile documents come and clients leave, everybody else is answered right', async () => {
  const result = await chaos({ ms: 32_000, everyMs: 2000, clientsPerKind: 1 });
  expect(result.broken).toEqual([]);
  expect(result.strikes.length).toBeGreaterThan(10);
  for (const kind of ['html', 'office', 'merge']) {
    expect(result.outcomes.filter(outcome => outcome.kind === kind && outcome.right).length).toBeGreaterThan(10);
  }
}, 120_000);
