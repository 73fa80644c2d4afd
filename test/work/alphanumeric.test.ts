import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sortAlphanumerically } from '../../src/work/alphanumeric.ts';

const sorted = (names: readonly string[]) => sortAlphanumerically(names, name => name);

describe('files are put in the order that people number them in', () => {
  test.each([
    [['1bar.pdf', '2_aza.txt', '2_baz.txt', '3.pdf', '4_foo.pdf', '10qux.pdf', '25zeta.txt', 'Afoo.txt', 'Bbar.docx']],
    [['sample1_1.pdf', 'sample1_2.pdf', 'sample1_3.pdf', 'sample1_4.pdf', 'sample1_10.pdf', 'sample1_11.pdf']],
    [['Bundle-25029.pdf', 'RIJNMOND-2_P0007104.pdf']],
    [['page_2', 'page_10']],
    [['9223372036854775807.pdf', '9223372036854775808.pdf']],
    [['B.pdf', 'a.pdf', 'é.pdf']],
  ])('%j', order => {
    expect(sorted(order.toReversed())).toEqual(order);
    expect(sorted([...order.slice(3), ...order.slice(0, 3)])).toEqual(order);
  });

  test('two of one name stay in the order of sending', () => {
    const twins = [
      { name: 'a.pdf', n: 1 },
      { name: 'a.pdf', n: 2 },
    ];
    expect(sortAlphanumerically(twins, twin => twin.name)).toEqual(twins);
  });
});

const part = fc.constantFrom('', '1', '2', '3', '10', 'a', 'b', '01');
const name = fc.tuple(part, part, part, fc.constantFrom('.pdf', '.txt', '')).map(parts => parts.join(''));

test('the order never depends on the order of sending, though the documented one has circles', () => {
  expect(sorted(['3a.pdf', 'a2.pdf', '1b.pdf'])).toEqual(sorted(['1b.pdf', '3a.pdf', 'a2.pdf']));
  fc.assert(
    fc.property(
      fc
        .uniqueArray(name, { maxLength: 8 })
        .chain(names => fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length }))),
      ([names, shuffled]) => {
        expect(sorted(shuffled)).toEqual(sorted(names));
      },
    ),
  );
});
