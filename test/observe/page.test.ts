import { expect, test } from 'vitest';
import { createMetrics } from '../../src/observe/metrics.ts';

test('docs/metrics.md lists the metrics that there are', async () => {
  const text = await createMetrics([]).text();
  const rows = [...text.matchAll(/^# HELP (platen_(?:engine|http)_\w+) (.*)\n# TYPE \S+ (\w+)$/gm)].map(
    ([, name, help, type]) => `| \`${name}\` | ${type} | ${help} |`,
  );
  const page = `# Metrics

\`/metrics\` tells what follows, in the text format of Prometheus, and the metrics of the Node process, which also begin
with \`platen_\`. Values are read when they are asked for. Engines are told apart by \`engine\`, their counters by
\`reason\`, their instances by \`instance\`; requests by \`route\` (as declared, \`none\` where there is no such route),
and in the count by \`method\` and class of \`status\` too.

| name | type | what |
|---|---|---|
${rows.join('\n')}

\`/prometheus/metrics\` has the gauges of the compatible API, and no others.
`;
  await expect(page).toMatchFileSnapshot('../../docs/metrics.md');
});
