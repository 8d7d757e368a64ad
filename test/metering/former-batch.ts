import type { Pool } from 'pg';
import type { UsageRecord } from '../../src/metering/usage-record.js';

interface FormerRow {
  inserted: number;
  unknown: string | null;
  balances: string;
  key_days: string;
}

/** Sends a batch as edges of version 1.1 do. */
export async function formerBatch(pool: Pool, records: readonly UsageRecord[]): Promise<FormerRow> {
  const columns: ((record: UsageRecord) => unknown)[] = [
    ({ id }) => id,
    ({ createdAt }) => createdAt,
    ({ accountId }) => accountId,
    ({ keyId }) => keyId,
    ({ widgetId }) => widgetId,
    ({ requestedModel }) => requestedModel,
    ({ servedModel }) => servedModel,
    ({ endpoint }) => endpoint,
    ({ stream }) => stream,
    ({ inputTokens }) => inputTokens,
    ({ outputTokens }) => outputTokens,
    ({ priceIn }) => priceIn,
    ({ priceOut }) => priceOut,
    ({ cost }) => cost,
    ({ latencyMs }) => latencyMs,
    ({ ttftMs }) => ttftMs,
    ({ status }) => status,
    ({ errorCode }) => errorCode,
    ({ httpStatus }) => httpStatus,
    ({ clientAborted }) => clientAborted,
    ({ estimated }) => estimated,
    ({ anomalous }) => anomalous,
    ({ promptVersionId }) => promptVersionId,
    ({ deployment }) => deployment,
    ({ nodeId }) => nodeId,
    ({ nodeCalls }) => nodeCalls,
    ({ movedTo }) => movedTo,
    ({ errorMessage }) => errorMessage,
  ];
  const accounts = [...new Set(records.map(({ accountId }) => accountId))];
  const values = [accounts, ...columns.map((column) => records.map(column)), 5, 'too many'];
  const marks = values.map((_, index) => `$${index + 1}`);
  const { rows } = await pool.query<FormerRow>(`select * from write_calls(${marks})`, values);
  return rows[0]!;
}
