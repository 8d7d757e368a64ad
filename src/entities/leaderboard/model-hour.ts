import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

const sketch = () => p.array((text) => Number(text));

/** Calls of one hour by model, over all accounts, as the public leaderboard counts them. */
const ModelHourSchema = defineEntity({
  name: 'ModelHour',
  tableName: 'model_hours',
  properties: {
    hour: p.datetime(6).primary(),
    model: p.text().primary(),
    /** Calls that ended with an answer, by the leaderboard's rules. */
    successes: p.bigint(),
    /** Calls that failed, and those that another model had to serve. */
    errors: p.bigint(),
    /** Errors with status 429. */
    rateLimited: p.bigint(),
    inputTokens: p.bigint(),
    outputTokens: p.bigint(),
    /** Dollars. */
    cost: p.decimal().columnType('numeric'),
    /** Output tokens and milliseconds of the successes. */
    successTokens: p.bigint(),
    successMs: p.bigint(),
    /** Sketches of the successes: numbers of buckets, ascending, and how many calls each has. */
    latencyBuckets: sketch().columnType('smallint[]'),
    latencyCounts: sketch().columnType('bigint[]'),
    ttftBuckets: sketch().columnType('smallint[]'),
    ttftCounts: sketch().columnType('bigint[]'),
    inputBuckets: sketch().columnType('smallint[]'),
    inputCounts: sketch().columnType('bigint[]'),
    outputBuckets: sketch().columnType('smallint[]'),
    outputCounts: sketch().columnType('bigint[]'),
    /** Errors of calls that their callers ended: no fault of the model, and no part of its public status. */
    callerLeft: p.bigint(),
  },
});

export class ModelHour extends ModelHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'model'];
}
ModelHourSchema.setClass(ModelHour);
