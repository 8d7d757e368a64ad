import { formatMoney, parseMoney } from '../../src/lib/money.js';
import { callsStopped, moneyParts } from '../../src/lib/money-parts.js';
import fc from '../support/fast-check.js';

describe('an amount on a page', () => {
  test.each([
    ['1.000000', '$1.00', ''],
    ['0.020137', '$0.02', '0137'],
    ['0.0000001', '$0.00', '00001'],
    ['1234567.890000', '$1,234,567.89', ''],
    ['-0.99999995', '-$0.99', '999995'],
    ['0.000000', '$0.00', ''],
  ])('%s reads %s and then %s', (decimal, main, rest) => {
    expect(moneyParts(decimal)).toEqual({ main, rest });
  });

  test('keeps every digit of any amount', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 20n), 10n ** 20n), (units) => {
        const { main, rest } = moneyParts(formatMoney(units));
        expect(parseMoney(main.replace('$', '').replaceAll(',', '') + rest)).toBe(units);
      }),
    );
  });
});

describe('callsStopped', () => {
  test.each([
    ['25.000000', false],
    ['0.999999', false],
    ['0.001000', false],
    ['0.010000', false],
    ['0.000999999999', true],
    ['0.000000', true],
    ['-3.500000', true],
  ])('at %s is %s', (decimal, stopped) => {
    expect(callsStopped(decimal)).toBe(stopped);
  });
});
