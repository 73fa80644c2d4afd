import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('..', import.meta.url).pathname;

interface Import {
  readonly from: string;
  /** A path from the root for our own files, else the package's name. */
  readonly of: string;
  readonly typeOnly: boolean;
}

/** The two files that wire the service together: the start, and what it starts. */
const ENTRY = ['src/main.ts', 'src/serve.ts'];

const files = ['src', 'modules'].flatMap(folder =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith('setup/'))
    .map(name => `${folder}/${name}`),
);
const sources = new Map(files.map(file => [file, readFileSync(join(ROOT, file), 'utf8')]));
const imports = [...sources].flatMap(([file, source]) => importsOf(file, source));

function importsOf(file: string, source: string): Import[] {
  const statements = source.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gms);
  const dynamic = source.matchAll(/\bimport\(\s*'([^']+)'/g);
  const found = [
    ...[...statements].map(match => ({ name: match[2] ?? '', typeOnly: match[1] !== undefined })),
    ...[...dynamic].map(match => ({ name: match[1] ?? '', typeOnly: false })),
  ];
  return found.map(({ name, typeOnly }) => ({
    from: file,
    of: name.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), name)) : name,
    typeOnly,
  }));
}

/** Imports that break a rule, as lines to read. */
function offenders(breaks: (i: Import) => boolean): string[] {
  return imports.filter(breaks).map(({ from, of }) => `${from} imports ${of}`);
}

/** Lines that say what they should not, by file. */
function saying(pattern: RegExp, allowed: readonly string[]): string[] {
  return [...sources]
    .filter(([file]) => !allowed.includes(file))
    .flatMap(([file, source]) =>
      source
        .split('\n')
        .filter(line => pattern.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line))
        .map(line => `${file}: ${line.trim()}`),
    );
}

const isPackage = (name: string, ...packages: string[]) =>
  packages.some(candidate => name === candidate || name.startsWith(`${candidate}/`));

test('there are files and imports to look at', () => {
  expect(files).toContain('src/serve.ts');
  expect(imports.length).toBeGreaterThan(100);
  expect(imports).toContainEqual({ from: 'src/serve.ts', of: 'modules/index.ts', typeOnly: false });
});

describe('who may import whom', () => {
  test('the kernel knows no module; only the entry imports the list of them', () => {
    expect(
      offenders(({ from, of }) => from.startsWith('src/') && of.startsWith('modules/') && !ENTRY.includes(from)),
    ).toEqual([]);
  });

  test('a module imports no other', () => {
    const module = (path: string) => (/^modules\/[^/]+\//.exec(path) ?? [''])[0];
    expect(
      offenders(({ from, of }) => module(from) !== '' && of.startsWith('modules/') && module(of) !== module(from)),
    ).toEqual([]);
  });

  test.each([
    ['child processes', ['node:child_process', 'execa'], /^src\/process\//],
    ['busboy', ['busboy'], /^src\/http\/multipart\.ts$/],
    ['hono', ['hono', '@hono'], /^src\/http\/|^modules\/[^/]+\/routes\.ts$/],
    ['puppeteer', ['puppeteer', 'puppeteer-core'], /^modules\/chromium\//],
    ['metrics', ['prom-client'], /^src\/observe\/metrics\.ts$/],
    ['zip writing', ['yazl'], /^src\/http\/zip\.ts$/],
  ])('%s have one door', (_, packages, door) => {
    expect(offenders(({ from, of }) => isPackage(of, ...packages) && !door.test(from))).toEqual([]);
  });

  test('relative imports name the file', () => {
    expect(
      offenders(({ of }) => (of.startsWith('src/') || of.startsWith('modules/') ? !/\.(ts|json)$/.test(of) : false)),
    ).toEqual([]);
  });

  test('there is no circle', () => {
    const next = Map.groupBy(
      imports.filter(({ of, typeOnly }) => !typeOnly && sources.has(of)),
      ({ from }) => from,
    );
    const circles: string[] = [];
    const done = new Set<string>();
    const walk = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      else if (!done.has(file)) {
        for (const { of } of next.get(file) ?? []) walk(of, [...path, file]);
        done.add(file);
      }
    };
    for (const file of files) walk(file, []);
    expect(circles).toEqual([]);
  });
});

describe('what stands in one place only', () => {
  test('timers', () => {
    expect(
      saying(/(?<![.\w#])set(Timeout|Interval)\(|timers\/promises|AbortSignal\.timeout/, ['src/time/clock.ts']),
    ).toEqual([]);
  });

  test('the environment and signals', () => {
    expect(saying(/\bprocess\.env\b|\bprocess\.on(ce)?\(/, ENTRY.concat('src/process/child.ts'))).toEqual([]);
  });

  test('a name is exported by the file that has it, and by no other', () => {
    expect(saying(/^export (\*|\{[^}]*\}) from/, [])).toEqual([]);
  });
});

test('files are short enough to be read: most under 250 lines, none over 500', () => {
  const long = [...sources]
    .map(([file, source]) => ({ file, lines: source.split('\n').length }))
    .filter(({ lines }) => lines > 250);
  expect(long.filter(({ lines }) => lines > 500)).toEqual([]);
  expect(long.length, long.map(({ file, lines }) => `${file}: ${lines}`).join(', ')).toBeLessThanOrEqual(
    files.length / 10,
  );
});
