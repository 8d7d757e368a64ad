import { csvLine } from '../../src/services/billing/csv.js';

describe('a line of CSV', () => {
  test('contains ordinary cells unchanged', () => {
    expect(csvLine(['a', 1, -2.5, true, null, 'ü'])).toBe('a,1,-2.5,true,,ü\r\n');
  });

  test.each(['=', '+', '-', '@', '＝', '＋', '－', '＠'])('disarms a formula that begins with %s', (sign) => {
    expect(csvLine([`${sign}1+1`])).toBe(`'${sign}1+1\r\n`);
  });

  test.each(['\t=1', '\r=1', '\n=1'])('disarms a formula after white space: %j', (text) => {
    expect(csvLine([text])).toMatch(/^"?'\s/);
  });

  test('quotes cells with commas, quotes and line breaks', () => {
    expect(csvLine(['a,b', 'say "x"', 'two\r\nlines', '=HYPERLINK("x")'])).toBe(
      '"a,b","say ""x""","two\r\nlines","\'=HYPERLINK(""x"")"\r\n',
    );
  });
});
