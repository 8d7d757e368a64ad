import { p } from '@mikro-orm/core';

/** A column of a sketch: numbers of buckets that have calls, ascending, or how many each has. */
export const sketch = (columnType: 'smallint[]' | 'integer[]' | 'bigint[]') =>
  p.array((text) => Number(text)).columnType(columnType);

/** What was counted of the calls of one hour, whatever tells its rows apart. */
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
