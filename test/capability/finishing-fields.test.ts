import { expect, test } from 'vitest';
import { chromiumFinishingFields, officeFinishingFields } from '../../src/capability/finishing-fields.ts';
import type { FieldTable, RawForm } from '../../src/http/fields.ts';
import { readForm } from '../../src/http/form.ts';

const form = (values: Record<string, string>): RawForm => ({
  values: new Map(Object.entries(values).map(([name, value]) => [name, [value]])),
  files: [],
});

/** The problems that a form with these values has, line by line. */
function problems(table: FieldTable, values: Record<string, string>): string[] {
  try {
    readForm(table, form(values));
    return [];
  } catch (error) {
    return (error as Error).message.replace('Invalid form data: ', '').split('\n');
  }
}

test('a form without any of them is accepted, and so is one that asks for what happens anyway', () => {
  const asItIs = {
    pdfua: 'false',
    allowPrinting: 'true',
    imageQuality: '80',
    metadata: '{}',
    splitUnify: '0',
    pdfa: '',
  };
  expect(problems(officeFinishingFields, asItIs)).toEqual([]);
  expect(problems(chromiumFinishingFields, {})).toEqual([]);
});

test.each([
  ['pdfa', 'PDF/A-2b'],
  ['userPassword', 'secret'],
  ['allowPrinting', 'false'],
  ['metadata', '{"Title":"x"}'],
  ['rotateAngle', '90'],
  ['stampSource', 'text'],
])('%s=%s, which cannot be done yet, is refused by name instead of being passed over', (name, value) => {
  expect(problems(officeFinishingFields, { [name]: value })).toEqual([
    `form field '${name}' is not supported by this version of Platen yet; leave it out`,
  ]);
});

test('a file for a later feature is refused by the name of its field', () => {
  const upload = { field: 'embeds', name: 'a.txt', path: 'a.txt', file: '/x', bytes: 1 };
  expect(() => readForm(officeFinishingFields, { values: new Map(), files: [upload] })).toThrow("form file 'embeds'");
});

test('wrong values get the texts that clients of the compatible API know, in its order', () => {
  const wrong = {
    imageQuality: '0',
    facturxDocumentType: 'BILL',
    facturxConformanceLevel: 'BEST',
    rotateAngle: '45',
    allowCopying: 'maybe',
    metadata: 'foo',
    pdfua: 'foo',
    splitMode: 'halves',
  };
  const invalid = (name: keyof typeof wrong, why: string) =>
    `form field '${name}' is invalid (got '${wrong[name]}', resulting to ${why})`;
  const before = [
    invalid('splitMode', "wrong value, expected either 'intervals' or 'pages'"),
    invalid('pdfua', 'strconv.ParseBool: parsing "foo": invalid syntax'),
    invalid('metadata', "unmarshal metadata: invalid character 'o' in literal false (expecting 'a')"),
    invalid('allowCopying', 'strconv.ParseBool: parsing "maybe": invalid syntax'),
    invalid('rotateAngle', 'wrong value, expected 90, 180, or 270'),
  ];
  const facturX = [
    invalid('facturxConformanceLevel', "unsupported conformance level 'BEST'"),
    invalid('facturxDocumentType', "unsupported document type 'BILL'"),
  ];
  const quality = [invalid('imageQuality', 'value is inferior to 1')];
  expect(problems(officeFinishingFields, wrong)).toEqual([...before, ...facturX, ...quality]);
  expect(problems(chromiumFinishingFields, wrong)).toEqual([...before, ...quality, ...facturX]);
});
