import { costOf, formatMoney, parseMoney, pricePerToken } from '../../src/lib/money.js';
import fc from '../support/fast-check.js';

describe('money', () => {
  test('every amount survives formatting and parsing', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 24n), 10n ** 24n), (units) => parseMoney(formatMoney(units)) === units),
    );
  });

  test('a formatted amount has 6 to 12 decimals, and no trailing zeros after the sixth', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 24n), 10n ** 24n), (units) => {
        const decimals = formatMoney(units).split('.')[1]!;
        return (
          decimals.length >= 6 && decimals.length <= 12 && (decimals.length === 6 || !decimals.endsWith('0'))
        );
      }),
    );
  });

  test.each([
    ['1', '1.000000'],
    ['0.99999995', '0.99999995'],
    ['-0.000000000001', '-0.000000000001'],
    ['1000000', '1000000.000000'],
  ])('%s is formatted as %s', (text, wire) => expect(formatMoney(parseMoney(text))).toBe(wire));

  test.each(['', '1e3', '.5', '1.', '0x1', 'NaN', '1.0000000000001', ' 1'])('%p is refused', (text) =>
    expect(() => parseMoney(text)).toThrow(RangeError),
  );

  test('a charge is exactly tokens × price ÷ 1,000,000', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000_000_000 }),
        fc.integer({ min: 0, max: 1_000_000_000 }),
        fc.bigInt(0n, 10_000_000n),
        fc.bigInt(0n, 10_000_000n),
        (tokensIn, tokensOut, microIn, microOut) => {
          const dollars = (micro: bigint) =>
            `${micro / 1_000_000n}.${(micro % 1_000_000n).toString().padStart(6, '0')}`;
          const cost = costOf(
            tokensIn,
            tokensOut,
            pricePerToken(dollars(microIn)),
            pricePerToken(dollars(microOut)),
          );
          return (
            cost * 1_000_000n === (BigInt(tokensIn) * microIn + BigInt(tokensOut) * microOut) * 1_000_000n
          );
        },
      ),
    );
  });

  test('a price that could not be charged exactly is refused', () => {
    expect(() => pricePerToken('0.0000001')).toThrow('at most six decimals');
  });
});
