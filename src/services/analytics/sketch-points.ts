import { type RawBuilder, sql } from 'kysely';

/**
 * Columns `bucket` and `n` of a sketch's points, a row each. Merging a month of sketches takes half the time of a lateral join
 * that sums `bigint`: its sum is a `numeric`, while doubles add whole numbers below 2^53 exactly.
 */
export const pointsOf = (sketch = 'latency'): RawBuilder<unknown> =>
  sql`unnest(${sql.ref(`${sketch}_buckets`)}) as bucket, unnest(${sql.ref(`${sketch}_counts`)})::float8 as n`;
