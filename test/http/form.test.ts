import { describe, expect, test } from 'vitest';
import {
  bool,
  choice,
  duration,
  fileNamed,
  filesWith,
  float,
  inches,
  int,
  json,
  pageRanges,
  planned,
  text,
} from '../../src/http/field-kinds.ts';
import type { FieldTable, RawForm, Upload, ValueField } from '../../src/http/fields.ts';
import { readForm } from '../../src/http/form.ts';

const upload = (name: string, field = 'files'): Upload => ({ field, name, path: name, file: `/up/${name}`, bytes: 1 });
const form = (values: Record<string, string | string[]> = {}, files: Upload[] = []): RawForm => ({
  values: new Map(Object.entries(values).map(([name, value]) => [name, [value].flat()])),
  files,
});

function problemOf(table: FieldTable, raw: RawForm): string {
  try {
    readForm(table, raw);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const doc = '';

describe('a value', () => {
  const x: FieldTable = { x: text({ default: 'standard', doc }) };

  test('is the first of its field; an empty one is none', () => {
    expect(readForm(x, form({ x: ['one', 'two'] })).x).toBe('one');
    expect(readForm(x, form({ x: ['', 'two'] })).x).toBe('standard');
    expect(readForm(x, form()).x).toBe('standard');
  });

  test('that is required says so when it is missing or empty', () => {
    const url: FieldTable = { url: text({ default: '', doc, required: true }) };
    for (const raw of [form(), form({ url: '' })]) {
      expect(problemOf(url, raw)).toBe("Invalid form data: form field 'url' is required");
    }
  });

  test('of a field that the route does not know is passed over', () => {
    expect(readForm(x, form({ y: 'anything' }))).toEqual({ x: 'standard', $files: [] });
  });

  test('that is secret is not repeated', () => {
    const pin: FieldTable = { pin: { ...int({ default: 0, doc }), secret: true } };
    expect(problemOf(pin, form({ pin: '12x' }))).toContain("(got '***', resulting to");
  });
});

describe('what values are accepted, and the words for those that are not', () => {
  const even = (value: number) => (value % 2 ? 'value is odd' : undefined);
  const cases: [kind: string, field: ValueField<unknown>, raw: string, expected: unknown][] = [
    ...['1', 't', 'T', 'TRUE', 'true', 'True'].map(raw => ['bool', bool({ default: false, doc }), raw, true] as never),
    ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map(
      raw => ['bool', bool({ default: true, doc }), raw, false] as never,
    ),
    ['bool', bool({ default: false, doc }), 'yes', 'strconv.ParseBool: parsing "yes": invalid syntax'],
    ['int', int({ default: 0, doc }), '-12', -12],
    ['int', int({ default: 0, doc }), '+7', 7],
    ['int', int({ default: 0, doc }), '1.5', 'strconv.Atoi: parsing "1.5": invalid syntax'],
    ['int', int({ default: 0, doc }), ' 1', 'strconv.Atoi: parsing " 1": invalid syntax'],
    [
      'int',
      int({ default: 0, doc }),
      '9223372036854775808',
      'strconv.Atoi: parsing "9223372036854775808": value out of range',
    ],
    ['int', int({ default: 0, doc, check: even }), '3', 'value is odd'],
    ['float', float({ default: 0, doc }), '1e3', 1000],
    ['float', float({ default: 0, doc }), '.5', 0.5],
    ['float', float({ default: 0, doc }), 'NaN', 'strconv.ParseFloat: parsing "NaN": invalid syntax'],
    ['float', float({ default: 0, doc }), '"', 'strconv.ParseFloat: parsing "\\"": invalid syntax'],
    ['length', inches({ default: 0, doc }), '8.5', 8.5],
    ['length', inches({ default: 0, doc }), '8.5in', 8.5],
    ['length', inches({ default: 0, doc }), '72pt', 1],
    ['length', inches({ default: 0, doc }), '96px', 1],
    ['length', inches({ default: 0, doc }), '25.4mm', 1],
    ['length', inches({ default: 0, doc }), '2.54cm', 1],
    ['length', inches({ default: 0, doc }), '6pc', 1],
    ['length', inches({ default: 0, doc }), '5 cm', 'strconv.ParseFloat: parsing "5 ": invalid syntax'],
    ['length', inches({ default: 0, doc }), 'wide', 'strconv.ParseFloat: parsing "wide": invalid syntax'],
    ['duration', duration({ default: 0, doc }), '1.5s', 1500],
    ['duration', duration({ default: 0, doc }), '1m30s', 90_000],
    ['duration', duration({ default: 0, doc }), '0', 0],
    ['duration', duration({ default: 0, doc }), '-2ms', -2],
    ['duration', duration({ default: 0, doc }), '5', 'time: missing unit in duration "5"'],
    ['duration', duration({ default: 0, doc }), '5x', 'time: unknown unit "x" in duration "5x"'],
    ['duration', duration({ default: 0, doc }), 'soon', 'time: invalid duration "soon"'],
    ['choice', choice({ default: '', of: ['', 'a'], expected: "'a'", doc }), 'b', "wrong value, expected 'a'"],
    ['JSON', list(), '[1,2]', [1, 2]],
    ['JSON', list(), '{}', 'unmarshal codes: expected a list of numbers'],
    ['JSON', list(), 'foo', "unmarshal codes: invalid character 'o' in literal false (expecting 'a')"],
    ['JSON', list(), '[1', 'unmarshal codes: unexpected end of JSON input'],
    ['pages', pageRanges({ doc }), '1-3, 5,8-', '1-3, 5,8-'],
    ['pages', pageRanges({ doc }), '3-1', 'wrong value, range 3-1 starts after its end'],
    ['pages', pageRanges({ doc }), '0-2', 'wrong value, pages count from 1'],
    ['pages', pageRanges({ doc }), 'a', "wrong value, expected page ranges like '1-4', '2' or '1,3,5-7'"],
  ];

  test.each(cases)('%s %#: %s', (_kind, field, raw, expected) => {
    const read = field.read(raw);
    expect('value' in read ? read.value : read.problem).toEqual(expected);
  });

  function list() {
    return json<readonly number[]>({
      name: 'codes',
      default: [],
      shape: value => (Array.isArray(value) ? value : undefined),
      expected: 'a list of numbers',
      doc,
    });
  }
});

describe('files', () => {
  const table = {
    index: fileNamed('index.html', { doc, required: true }),
    header: fileNamed('header.html', { doc }),
    pdfs: filesWith(['.pdf', '.x'], { doc }),
  };

  test('are found by name, an extension in capitals included, and by extension in alphanumeric order', () => {
    const files = ['10.pdf', '9.PDF', 'index.HTML', 'b.x', 'a.txt'].map(name => upload(name));
    const read = readForm(table, form({}, [...files, upload('1.pdf', 'embeds')]));
    expect(read.index.name).toBe('index.HTML');
    expect(read.header).toBeUndefined();
    expect(read.pdfs.map(file => file.name)).toEqual(['9.PDF', '10.pdf', 'b.x']);
    expect(read.$files).toHaveLength(6);
  });

  test('of one name: the last one is looked up, all are listed', () => {
    const twice = [upload('index.html', 'a'), upload('index.html', 'b'), upload('1.pdf', 'a'), upload('1.pdf', 'b')];
    const read = readForm(table, form({}, twice));
    expect(read.index.field).toBe('b');
    expect(read.pdfs).toHaveLength(2);
  });

  test('that are missing are all named', () => {
    expect(problemOf(table, form({}, [upload('Index.html'), upload('1.pdf', 'stamp')]))).toBe(
      "Invalid form data: form file 'index.html' is required\nno form file found for extensions: [.pdf .x]",
    );
  });
});

test('all problems are told at once, in the order of the table', () => {
  const table: FieldTable = {
    first: bool({ default: false, doc }),
    second: text({ default: '', doc, required: true }),
    third: planned(bool({ default: false, doc })),
    fourth: filesWith(['.pdf'], { doc }),
  };
  expect(problemOf(table, form({ third: 'true', first: 'x' }))).toBe(
    [
      `Invalid form data: form field 'first' is invalid (got 'x', resulting to strconv.ParseBool: parsing "x": invalid syntax)`,
      "form field 'second' is required",
      "form field 'third' is not supported by this version of Platen yet; leave it out",
      'no form file found for extensions: [.pdf]',
    ].join('\n'),
  );
  expect(problemOf(table, form({ third: 'F', second: 'x' }, [upload('a.pdf')]))).toBe('');
});
