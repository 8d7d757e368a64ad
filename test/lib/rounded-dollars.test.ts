import { roundedDollars } from '../../src/lib/rounded-dollars.js';

test.each([
  [0, '$0.00'],
  [13.333333333333, '$13.33'],
  [26_666.6666666, '$26,666.67'],
  [1, '$1.00'],
  [0.1, '$0.10'],
  [0.0999, '$0.10'],
  [0.05, '$0.05'],
  [0.0533333, '$0.053'],
  [0.000001333333, '$0.0000013'],
  [1e-12, '$0.000000000001'],
])('%p dollars are about %s', (usd, shown) => expect(roundedDollars(usd)).toBe(shown));
