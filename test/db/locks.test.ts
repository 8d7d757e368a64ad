import { advisoryLocks } from '../../src/db/locks.js';

test('no two uses of advisory locks share a number', () => {
  const numbers = Object.values(advisoryLocks);
  expect(new Set(numbers).size).toBe(numbers.length);
});
