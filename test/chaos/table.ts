import type { ChaosResult, Strike } from './run.ts';
import type { Outcome } from './traffic.ts';

/** A fault is felt for so long at most; requests that began within count as "with faults", in ms. */
const FELT_MS = 2000;

/** What came of it, as a table in Markdown. */
export function tableOf(result: ChaosResult): string {
  const { outcomes, strikes, failures } = result;
  const right = outcomes.filter(outcome => outcome.right).length;
  const felt = (outcome: Outcome) => strikes.some(({ at }) => outcome.began < at + FELT_MS && outcome.ended > at);
  const kinds = [...new Set(outcomes.map(({ kind }) => kind))];
  const latencies = kinds.flatMap(kind =>
    [true, false].map(faulty => {
      const times = outcomes
        .filter(outcome => outcome.kind === kind && outcome.right && felt(outcome) === faulty)
        .map(({ began, ended }) => ended - began)
        .toSorted((a, b) => a - b);
      return row(`${kind}, ${faulty ? 'around a fault' : 'otherwise'}: p50, p95, p99 (ms)`, percentiles(times));
    }),
  );
  return [
    row('what', 'figure'),
    '|---|---|',
    row('requests', outcomes.length),
    row('answered right', right),
    ...[...failures].map(([what, times]) => row(`answered ${what}`, times)),
    row('faults', strikes.length),
    ...recoveries(strikes),
    ...latencies,
    row('zombies', result.zombies),
    row('engine processes at rest', [...result.census].map(([name, count]) => `${count} ${name}`).join(', ')),
    row('files left', result.filesLeft.length),
    row('promises broken', result.broken.length === 0 ? 'none' : result.broken.join('; ')),
  ].join('\n');
}

function recoveries(strikes: readonly Strike[]): string[] {
  const names = [...new Set(strikes.map(({ name }) => name))];
  return names.map(name => {
    const times = strikes.filter(strike => strike.name === name).flatMap(({ recoveryMs }) => recoveryMs ?? []);
    const sorted = times.toSorted((a, b) => a - b);
    const longest = sorted.at(-1);
    const text = `${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)}, ${Math.round(longest ?? 0)}`;
    return row(`${name} × ${times.length}: next right answer after, median, longest (ms)`, text);
  });
}

function percentiles(sorted: readonly number[]): string {
  if (sorted.length === 0) return '–';
  return [0.5, 0.95, 0.99].map(p => Math.round(sorted[Math.floor(sorted.length * p)] ?? 0)).join(', ');
}

function row(...cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ').replaceAll('\n', ' ')} |`;
}
