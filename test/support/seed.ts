import { randomInt } from 'node:crypto';

/** CI judges a change, so the same commit always gets the same cases. New ones come from every other run. */
export const CI_SEED = process.env.CI ? 20_261_123 : undefined;

/** The seed of a suite's cases: what `variable` says, the one of CI, or a new one. Suites print it. */
export const seedFrom = (variable: 'FUZZ_SEED' | 'FAULTS_SEED'): number =>
  Number(process.env[variable] ?? CI_SEED ?? randomInt(2 ** 31));
