import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import type { LeaderboardInput } from '../../src/services/leaderboard/leaderboard.inputs.js';
import { createPayer, recordOf } from '../metering/support.js';
import type { TestDatabase } from '../support/database.js';

/** A Saturday at noon, and the hour before. */
export const NOW = Date.UTC(2026, 10, 21, 12, 30);
export const LAST_HOUR = Date.UTC(2026, 10, 21, 11);

/** What a call is that failed. */
export const FAILED = {
  status: 'error',
  errorCode: 'upstream_error',
  httpStatus: 502,
  outputTokens: 0,
  cost: 0n,
} as const;

/** What a call is for which no node had room. */
export const UNAVAILABLE = { ...FAILED, errorCode: 'upstream_unavailable', httpStatus: 503 } as const;

/** What a call is whose caller left before there was an answer. */
export const LEFT = {
  status: 'error',
  errorCode: 'client_closed_request',
  httpStatus: 499,
  clientAborted: true,
  outputTokens: 0,
  cost: 0n,
} as const;

/** What a call is that the node refused for what it says. */
export const REFUSED = { ...FAILED, errorCode: 'invalid_request', httpStatus: 400 } as const;

/** Calls of one account to a model in the hour before `NOW`. */
export async function callModel(
  db: TestDatabase,
  model: string,
  count: number,
  changes: Partial<UsageRecord> = {},
): Promise<void> {
  const payer = await createPayer(db.pool);
  await flushBatch(
    db.pool,
    Array.from({ length: count }, (_, i) =>
      recordOf(payer, {
        createdAt: LAST_HOUR + i,
        servedModel: model,
        requestedModel: model,
        latencyMs: 20 + (i % 50),
        ...changes,
      }),
    ),
  );
}

/** Four ranked models in each order of the leaderboard. */
export const ORDERS = {
  ranking_score: ['deepseek-reason', 'deepseek-code', 'qwen-pro', 'fast'],
  p95_latency: ['deepseek-code', 'deepseek-reason', 'qwen-pro', 'fast'],
  cost: ['fast', 'deepseek-reason', 'qwen-pro', 'deepseek-code'],
  throughput: ['qwen-pro', 'deepseek-reason', 'deepseek-code', 'fast'],
} satisfies Record<LeaderboardInput['sort_by'], string[]>;

/** The calls for `ORDERS`: each order has another first model. */
export async function callsInEveryOrder(db: TestDatabase): Promise<void> {
  await callModel(db, 'gateway/deepseek-reason', 100, { latencyMs: 300, outputTokens: 100 });
  await callModel(db, 'gateway/deepseek-code', 90, { latencyMs: 100, outputTokens: 10 });
  await callModel(db, 'gateway/deepseek-code', 10, FAILED);
  await callModel(db, 'gateway/qwen-pro', 90, { latencyMs: 400, outputTokens: 1_000 });
  await callModel(db, 'gateway/qwen-pro', 10, FAILED);
  await callModel(db, 'gateway/fast', 50, { latencyMs: 1_000, outputTokens: 50 });
  await callModel(db, 'gateway/fast', 50, FAILED);
}
