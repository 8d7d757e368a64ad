import { percent } from '../../src/pages/public/html.js';

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
