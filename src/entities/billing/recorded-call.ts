import { defineEntity, PrimaryKeyProp, p } from '@mikro-orm/core';

/**
 * One forwarded call and its charge. Contains no prompt and no response, not even in `errorMessage`. Partitioned by month or day
 * of `created_at`. Each partition has a unique index of `id`. The view `usage_events` shows calls with the columns of their
 * routes.
 */
const RecordedCallSchema = defineEntity({
  name: 'RecordedCall',
  tableName: 'calls',
  indexes: [
    { name: 'calls_account', properties: ['accountId', 'createdAt'] },
    { name: 'calls_time', properties: ['createdAt'], type: 'brin' },
    {
      name: 'calls_prompt_version',
      properties: ['accountId', 'promptVersionId', 'createdAt'],
      where: 'prompt_version_id is not null',
    },
  ],
  properties: {
    /** Time of completion, which determines day and month. */
    createdAt: p.datetime(6).primary(),
    /** The place of the charge among the account's charges and credits: 1, 2, 3, … without a gap; null if it cost nothing. */
    seq: p.bigint().nullable(),
    /** Equals `x-request-id`. */
    id: p.uuid().primary(),
    accountId: p.uuid(),
    keyId: p.uuid().nullable(),
    /** A `CallRoute`. */
    routeId: p.integer(),
    inputTokens: p.integer(),
    outputTokens: p.integer(),
    latencyMs: p.integer(),
    ttftMs: p.integer().nullable(),
    httpStatus: p.smallint(),
    /** Calls in progress on the node when this one began, including this one. For administrators only. */
    nodeCalls: p.smallint().nullable(),
    stream: p.boolean(),
    failed: p.boolean(),
    clientAborted: p.boolean(),
    /** Tokens were estimated because the upstream reported no plausible ones. */
    estimated: p.boolean(),
    /** Reported tokens exceed the model's context; they are charged as reported. */
    anomalous: p.boolean(),
    /** Dollars: tokens × price ÷ 1,000,000; 0 for errors. */
    cost: p.decimal().columnType('numeric'),
    /** The account's balance after the charge, dollars; null if it cost nothing. */
    balanceAfter: p.decimal().columnType('numeric').nullable(),
    widgetId: p.uuid().nullable(),
    /** The version of a prompt of this account that the caller named. Outlives its prompt. */
    promptVersionId: p.uuid().nullable(),
    errorCode: p.text().nullable(),
    /** Why the call failed, without anything of its prompt; null for a success. */
    errorMessage: p.text().nullable(),
  },
});

export class RecordedCall extends RecordedCallSchema.class {
  override [PrimaryKeyProp]?: ['createdAt', 'id'];
}
RecordedCallSchema.setClass(RecordedCall);
