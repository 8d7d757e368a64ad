import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';
import { sketch } from '../sketch-columns.js';

/** Latencies of one UTC day of calls with a prompt version, merged from its hours. */
const PromptVersionLatencyDaySchema = defineEntity({
  name: 'PromptVersionLatencyDay',
  tableName: 'prompt_version_latency_days',
  indexes: [{ name: 'prompt_version_latency_days_day', properties: ['day'] }],
  properties: {
    versionId: p.uuid().primary(),
    /** `YYYY-MM-DD`. */
    day: p.date().primary(),
    accountId: p.uuid().primary(),
    latencyBuckets: sketch('smallint[]'),
    latencyCounts: sketch('bigint[]'),
  },
});

export class PromptVersionLatencyDay extends PromptVersionLatencyDaySchema.class {
  override [PrimaryKeyProp]?: ['versionId', 'day', 'accountId'];
}
PromptVersionLatencyDaySchema.setClass(PromptVersionLatencyDay);
