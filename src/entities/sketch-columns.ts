import { p } from '@mikro-orm/core';

/** A column of a sketch: indexes of non-empty buckets, ascending, or the number of calls in each. */
export const sketch = (columnType: 'smallint[]' | 'integer[]' | 'bigint[]') =>
  p.array((text) => Number(text)).columnType(columnType);

/** Counts of the calls of one hour. */
export const countedCalls = () => ({
  requests: p.bigint(),
  errors: p.bigint(),
  inputTokens: p.bigint(),
  outputTokens: p.bigint(),
  /** Dollars. */
  cost: p.decimal().columnType('numeric'),
  latencyBuckets: sketch('smallint[]'),
  latencyCounts: sketch('integer[]'),
});
