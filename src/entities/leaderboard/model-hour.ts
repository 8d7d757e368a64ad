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
    /** Failed calls, and calls that another model had to serve. */
    errors: p.bigint(),
    /** Errors `upstream_unavailable`: every node was rate limited or unavailable. */
    rateLimited: p.bigint(),
    inputTokens: p.bigint(),
    outputTokens: p.bigint(),
    /** Dollars. */
    cost: p.decimal().columnType('numeric'),
    /** Output tokens and milliseconds of the successful calls. */
    successTokens: p.bigint(),
    successMs: p.bigint(),
    /** Sketches of the successful calls: indexes of buckets, ascending, and the number of calls in each. */
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
    ttftBuckets: sketch('smallint[]'),
    ttftCounts: sketch('bigint[]'),
    inputBuckets: sketch('smallint[]'),
    inputCounts: sketch('bigint[]'),
    outputBuckets: sketch('smallint[]'),
    outputCounts: sketch('bigint[]'),
    /** Errors of calls that clients left early or that were refused: not part of the model's public status. */
    callerErrors: p.bigint(),
  },
});

export class ModelHour extends ModelHourSchema.class {
  override [PrimaryKeyProp]?: ['hour', 'model'];
}
ModelHourSchema.setClass(ModelHour);
