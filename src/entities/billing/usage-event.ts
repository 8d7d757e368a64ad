import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/**
 * One forwarded call. Contains no prompt and no response, not even in `errorMessage`. Partitioned by month of
 * `created_at`, which is therefore part of the primary key: repeated writes keep the first value.
 */
const UsageEventSchema = defineEntity({
  name: 'UsageEvent',
  tableName: 'usage_events',
  indexes: [
    {
      name: 'usage_events_account',
      columns: [{ name: 'account_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    {
      name: 'usage_events_key',
      columns: [{ name: 'account_id' }, { name: 'key_id' }, { name: 'created_at', sort: 'desc' }],
      where: 'key_id is not null',
    },
    {
      name: 'usage_events_prompt_version',
      columns: [{ name: 'account_id' }, { name: 'prompt_version_id' }, { name: 'created_at', sort: 'desc' }],
      where: 'prompt_version_id is not null',
    },
  ],
  properties: {
    /** Time of completion, which determines day and month. */
    createdAt: p.datetime(6).primary(),
    /** Equals `x-request-id`. */
    id: p.uuid().primary(),
    accountId: p.uuid(),
    keyId: p.uuid().nullable(),
    widgetId: p.uuid().nullable(),
    requestedModel: p.text(),
    servedModel: p.text(),
    endpoint: p.text().$type<'chat' | 'embeddings'>(),
    stream: p.boolean(),
    inputTokens: p.integer(),
    outputTokens: p.integer(),
    /** Price snapshot, dollars per million tokens. */
    priceIn: p.decimal().precision(24).scale(12),
    priceOut: p.decimal().precision(24).scale(12),
    /** tokens × price ÷ 1,000,000; 0 for errors. */
    cost: p.decimal().precision(24).scale(12),
    latencyMs: p.integer(),
    ttftMs: p.integer().nullable(),
    status: p.text().$type<'success' | 'error'>(),
    errorCode: p.text().nullable(),
    httpStatus: p.integer(),
    clientAborted: p.boolean().default(false),
    /** Tokens were estimated because the upstream reported no plausible ones. */
    estimated: p.boolean().default(false),
    /** Reported tokens exceed the model's context; they are charged as reported. */
    anomalous: p.boolean().default(false),
    /** The version of a prompt of this account that the caller named. Outlives its prompt. */
    promptVersionId: p.uuid().nullable(),
    /** The deployment that answered, or failed last. This and the next two columns are for administrators only. */
    deployment: p.text().nullable(),
    /** The node that it ran on. */
    nodeId: p.uuid().nullable(),
    /** Calls in progress on that node when this one began, including this one. */
    nodeCalls: p.integer().nullable(),
    /** The model that the key's guard moved the call to; null if the requested one served it. */
    movedTo: p.text().nullable(),
    /** Why the call failed, without anything of its prompt; null for a success. */
    errorMessage: p.text().nullable(),
  },
});

export class UsageEvent extends UsageEventSchema.class {
  override [PrimaryKeyProp]?: ['createdAt', 'id'];
}
UsageEventSchema.setClass(UsageEvent);
