import { formatMoney } from '../../src/lib/money.js';
import { decimalText, moneyInput } from '../../src/lib/money-input.js';
import fc from '../support/fast-check.js';

const parse = (value: unknown) => {
  const result = moneyInput.safeParse(value);
  return result.success ? result.data : 'refused';
};

describe('money in a request', () => {
  test('every whole number of 1e-12 dollars that a JSON number can express is read exactly', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 18n), (units) => {
        // A double preserves 15 significant digits.
        const digits = units.toString();
        const short = BigInt(digits.slice(0, 15).padEnd(digits.length, '0'));
        return parse(JSON.parse(formatMoney(short))) === short;
      }),
    );
  });

  test('every amount is accepted in the format of answers', () => {
    fc.assert(fc.property(fc.bigInt(0n, 10n ** 18n), (units) => parse(formatMoney(units)) === units));
  });

  test('the text of a number parses to the same number and has no exponent', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), (value) => {
        const text = decimalText(value);
        return Number(text) === value && /^\d+(?:\.\d+)?$/.test(text);
      }),
    );
  });

  test('a number is read by its shortest text, and refused with more than 12 decimals', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), (value) => {
        const decimals = decimalText(value).split('.')[1]?.length ?? 0;
        const units = parse(value);
        return decimals > 12
          ? units === 'refused'
          : units !== 'refused' && Number(formatMoney(units)) === value;
      }),
    );
  });

  test.each([
    [0, 0n],
    [-0, 0n],
    [1e-7, 100_000n],
    [1.5e-7, 150_000n],
    [1e-12, 1n],
    [1_000_000, 10n ** 18n],
    [0.1, 10n ** 11n],
    ['1', 10n ** 12n],
    ['0001.500000', 15n * 10n ** 11n],
    ['0.0000000000010', 1n],
    ['999999.999999999999', 10n ** 18n - 1n],
  ])('%p is accepted', (value, units) => expect(parse(value)).toBe(units));

  test.each([
    [1e-13],
    [0.1 + 0.2],
    [-1e-12],
    [1_000_000.000001],
    [1e21],
    [Number.NaN],
    [Infinity],
    ['0.0000000000001'],
    ['1000000.000000000001'],
    ['-0.000001'],
    ['1e3'],
    ['.5'],
    ['5.'],
    [' 5'],
    [''],
    ['9'.repeat(10_000)],
    [null],
    [true],
  ])('%p is refused', (value) => expect(parse(value)).toBe('refused'));
});
