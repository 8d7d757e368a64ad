/** Full sizes: `npm run test:long` sets it. */
export const LONG: boolean = process.env.TEST_SIZE === 'long';

/**
 * Size of a flood, a fuzz or a race. `npm test` runs the first, which finds what the test is there for: docs/testing.md
 * says why for each. `npm run test:long` runs the second.
 */
export const sized = (usual: number, long: number): number => (LONG ? long : usual);
