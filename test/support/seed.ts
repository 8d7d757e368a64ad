import { randomInt } from 'node:crypto';

/** In CI, the same commit always gets the same cases, because CI judges a change. All other runs make new ones. */
export const CI_SEED = process.env.CI ? 20_261_123 : undefined;

/** The seed of a suite's cases: the value of `variable`, the seed of CI, or a new one. Suites print it. */
export const seedFrom = (variable: 'FUZZ_SEED' | 'FAULTS_SEED'): number =>
  Number(process.env[variable] ?? CI_SEED ?? randomInt(2 ** 31));
