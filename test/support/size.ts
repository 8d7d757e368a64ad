/** Full sizes: `npm run test:long` sets it. */
export const LONG: boolean = process.env.TEST_SIZE === 'long';

/**
 * Size of a flood, a fuzz or a race. `npm test` uses the first, which is enough to find what the test is for: docs/testing.md
 * explains each. `npm run test:long` uses the second.
 */
export const sized = (usual: number, long: number): number => (LONG ? long : usual);
