import { latency, percent } from '../../src/pages/public/html.js';

describe('a share on the public pages', () => {
  test.each([
    [0, '0%'],
    [3 / 100_000, 'under 0.01%'],
    [0.0001, '0.01%'],
    [0.9643, '96.43%'],
    [99_999 / 100_000, '99.99%'],
    [1, '100%'],
  ])('of %p reads %p', (share, shown) => expect(percent(share)).toBe(shown));
});

describe('how long a call took, on the public pages', () => {
  test.each([
    [null, '–'],
    [9_999, '9,999 ms'],
    [10_395, '10.4 s'],
  ])('%p ms reads %p', (ms, shown) => expect(latency(ms)).toBe(shown));
});
