import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

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
    /** Errors `upstream_unavailable`: every node was rate limited or unavailable. */
    rateLimited: p.bigint(),
    inputTokens: p.bigint(),
    outputTokens: p.bigint(),
    /** Dollars. */
    cost: p.decimal().columnType('numeric'),
    /** Output tokens and milliseconds of the successes. */
    successTokens: p.bigint(),
    successMs: p.bigint(),
    /** Sketches of the successes: numbers of buckets, ascending, and how many calls each has. */
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
    ttftBuckets: sketch('smallint[]'),
    ttftCounts: sketch('bigint[]'),
    inputBuckets: sketch('smallint[]'),
    inputCounts: sketch('bigint[]'),
    outputBuckets: sketch('smallint[]'),
    outputCounts: sketch('bigint[]'),
    /** Errors of calls that their callers ended soon, or whose request was refused: no part of the model's public status. */
    callerErrors: p.bigint(),
  },
});

export class ModelHour extends ModelHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'model'];
}
ModelHourSchema.setClass(ModelHour);
