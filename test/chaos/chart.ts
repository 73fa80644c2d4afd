/** One line of a chart: its name and its points. */
export interface Series {
  readonly name: string;
  readonly points: [x: number, y: number][];
}

const WIDTH = 900;
const HEIGHT = 420;
const LEFT = 70;
const RIGHT = 150;
const TOP = 40;
const BOTTOM = 50;
const COLOURS = ['#0f766e', '#b91c1c', '#1d4ed8', '#a16207', '#7e22ce'];

/** A line chart as SVG, with axes that begin at zero. */
export function chartOf(series: readonly Series[], text: { title: string; x: string; y: string }): string {
  const all = series.flatMap(({ points }) => points);
  const mostX = Math.max(1, ...all.map(([x]) => x));
  const stepY = roundStep(Math.max(1, ...all.map(([, y]) => y)) / 5);
  const mostY = stepY * 5;
  const x = (value: number) => LEFT + (value / mostX) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - (value / mostY) * (HEIGHT - TOP - BOTTOM);
  const grid = [0, 1, 2, 3, 4, 5].map(
    n => `<path d="M${LEFT} ${y(n * stepY).toFixed(1)}H${WIDTH - RIGHT}" stroke="#e2e8f0"/>
  <text x="${LEFT - 8}" y="${(y(n * stepY) + 4).toFixed(1)}" text-anchor="end">${n * stepY}</text>
  <text x="${x((mostX * n) / 5).toFixed(1)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${((mostX * n) / 5).toFixed(1)}</text>`,
  );
  const lines = series.map(({ name, points }, index) => {
    const colour = COLOURS[index % COLOURS.length];
    const path = points.map(([px, py], at) => `${at ? 'L' : 'M'}${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join('');
    const legend = TOP + 20 + index * 22;
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>
  <path d="M${WIDTH - RIGHT + 15} ${legend}h20" stroke="${colour}" stroke-width="3"/><text x="${WIDTH - RIGHT + 42}" y="${legend + 4}">${name}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#334155">
  <rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
  <text x="${LEFT}" y="24" font-size="15">${text.title}</text>
  ${grid.join('\n  ')}
  <text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${text.x}</text>
  <text x="18" y="${TOP}" >${text.y}</text>
  ${lines.join('\n  ')}
</svg>
`;
}

/** The next number of 1, 2 or 5 and zeros. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find(factor => factor * power >= least) ?? 10);
}
