import type { Pool, PoolClient } from 'pg';
import { askWithin, connectWithin, queryWithin } from '../db/bounded.js';
import { STATEMENT_TIMEOUT_MS } from '../db/patience.js';
import { parseMoney } from '../lib/money.js';
import { batchArguments } from './batch.js';
import type { FlushResult, UsageRecord } from './usage-record.js';

/** Error code of a call whose process died before it finished. */
export const TERMINATED = 'gateway_terminated';

const UNIQUE_VIOLATION = '23505';
const CONNECT_TIMEOUT_MS = 3_000;
/** Slightly longer than the server's own statement timeout, for a server that is frozen. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 500;
/** How long one try may take. */
export const FLUSH_TIMEOUT_MS = CONNECT_TIMEOUT_MS + ANSWER_TIMEOUT_MS;
/** Errors of batches that were sent and got no response. */
const unanswered = new WeakSet<Error>();

export interface BatchResult extends Pick<FlushResult, 'accounts' | 'keyDays' | 'alerted'> {
  /** How many events this transaction inserted; the rest of the batch already existed. */
  inserted: number;
  /** How many calls named a prompt version of another account. */
  strangeVersions: number;
  /** Records of accounts that don't exist: nothing was written for them. */
  refused: UsageRecord[];
}

/** The batch (src/metering/batch.ts), and the limit of mails with its message. */
const FLUSH = {
  name: 'metering-flush',
  text: `select * from charge_calls(${Array.from({ length: 45 }, (_, i) => `$${i + 1}`)})`,
};

/** Emails that one subscription sends per key and month. Without a limit, changing thresholds could flood a stranger's inbox. */
export const MAX_MAILS_PER_MONTH = 5;
export const TOO_MANY_MAILS = `Recorded, not emailed: a subscription sends at most ${MAX_MAILS_PER_MONTH} emails per key and month.`;

/** The row that `charge_calls` returns. Lists are texts, the cheapest format for both sides. */
interface FlushRow {
  /** Ids of calls that were recorded before: nothing was written. */
  recorded: string | null;
  /** Ids of accounts that don't exist. */
  unknown: string | null;
  /** Id, balance and ledger sequence of each account after the batch. */
  balances: string | null;
  /** Id, day and spend of each key on the days of the batch. */
  key_days: string | null;
  alerted: string | null;
  strange_versions: number;
}

/**
 * Commits events in ONE transaction and ONE round trip: usage rows, and for the newly inserted ones debits, balances,
 * spend of keys, counts per hour, the hours to roll up, and the alerts that fire. Sending a batch again changes nothing.
 * @throws Error of the database; the whole batch is rolled back. After a lost connection the outcome is unknown
 *   (`isOutcomeUnknown`): send the same batch again.
 */
export async function flushBatch(pool: Pool, records: readonly UsageRecord[]): Promise<BatchResult> {
  const client = await connectWithin(pool, CONNECT_TIMEOUT_MS);
  try {
    const result = await write(client, records);
    client.release();
    return result;
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    const isRolledBack = isServerError(failure);
    if (!isRolledBack) unanswered.add(failure);
    client.release(isRolledBack ? undefined : failure);
    throw failure;
  }
}

/**
 * Returns the accounts that no other transaction locks.
 * @throws Error of the database
 */
export async function unlockedAccounts(pool: Pool, accountIds: readonly string[]): Promise<Set<string>> {
  const question = {
    name: 'metering-unlocked',
    text: 'select unlocked_accounts($1)::text as id',
    values: [`{${accountIds}}`],
  };
  const rows = await queryWithin<{ id: string }>(pool, question, CONNECT_TIMEOUT_MS);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the ids of the events that are in the database. Doesn't wait for locked accounts.
 * @throws Error of the database
 */
export async function recordedEvents(pool: Pool, records: readonly UsageRecord[]): Promise<Set<string>> {
  const question = {
    name: 'metering-recorded',
    // A scalar subquery looks up each event; a join may read the whole table.
    text: `select e.id from unnest($1::uuid[], $2::bigint[]) as e(id, at_ms)
      where (select true from usage_events u
        where u.created_at = timestamptz 'epoch' + e.at_ms * interval '1 millisecond' and u.id = e.id)`,
    values: [`{${records.map(({ id }) => id)}}`, `{${records.map(({ createdAt }) => createdAt)}}`],
  };
  const rows = await queryWithin<{ id: string }>(pool, question, CONNECT_TIMEOUT_MS);
  return new Set(rows.map(({ id }) => id));
}

async function write(client: PoolClient, records: readonly UsageRecord[]): Promise<BatchResult> {
  const accounts = new Set<string>();
  const left = new Map<string, UsageRecord>();
  for (const record of records) {
    accounts.add(record.accountId.toLowerCase());
    const id = record.id.toLowerCase();
    if (!left.has(id)) left.set(id, record);
  }
  const unknown = new Set<string>();
  const recorded: UsageRecord[] = [];
  for (;;) {
    const row = await send(client, batchArguments([...accounts].sort(), [...left.values()], recorded));
    for (const id of row.recorded?.split(' ') ?? []) {
      const call = left.get(id);
      if (call) recorded.push(call);
      left.delete(id);
    }
    for (const id of row.unknown?.split(' ') ?? []) {
      accounts.delete(id);
      unknown.add(id);
    }
    if (row.recorded !== null || row.unknown !== null) {
      for (const [id, { accountId }] of left) if (unknown.has(accountId.toLowerCase())) left.delete(id);
      continue;
    }
    const widgetDays = await widgetDaysOf(client, recorded);
    return {
      inserted: left.size,
      strangeVersions: row.strange_versions,
      refused:
        unknown.size === 0 ? [] : records.filter(({ accountId }) => unknown.has(accountId.toLowerCase())),
      alerted: row.alerted?.split(' ') ?? [],
      accounts: parseTriples(row.balances, (id, balance, seq) => ({
        id,
        balance: parseMoney(balance),
        seq: BigInt(seq),
      })),
      keyDays: [row.key_days, widgetDays].flatMap((days) =>
        parseTriples(days, (keyId, day, spend) => ({ keyId, day, spend: parseMoney(spend) })),
      ),
    };
  }
}

/** Answered messages on the days of calls of widgets that were recorded before, as in `key_days`. */
async function widgetDaysOf(client: PoolClient, recorded: readonly UsageRecord[]): Promise<string | null> {
  const calls = recorded.filter(({ widgetId }) => widgetId !== null);
  if (calls.length === 0) return null;
  const question = {
    text: `select string_agg(w.widget_id || ' ' || w.day || ' ' || w.messages, ',') as days from widget_days w
      where (w.widget_id, w.day) in (
        select widget_id, (to_timestamp(at_ms / 1000) at time zone 'UTC')::date
        from unnest($1::uuid[], $2::bigint[]) as t(widget_id, at_ms))`,
    values: [`{${calls.map(({ widgetId }) => widgetId)}}`, `{${calls.map(({ createdAt }) => createdAt)}}`],
  };
  const { rows } = await askWithin<{ days: string | null }>(client, question, ANSWER_TIMEOUT_MS);
  return rows[0]!.days;
}

/** Sends a batch, and once more if another process has recorded one of its calls in the meantime. */
async function send(client: PoolClient, batch: readonly string[]): Promise<FlushRow> {
  const values = [...batch, MAX_MAILS_PER_MONTH, TOO_MANY_MAILS];
  const ask = () => askWithin<FlushRow>(client, { ...FLUSH, values }, ANSWER_TIMEOUT_MS);
  const { rows } = await ask().catch((error: { code?: unknown }) => {
    if (error.code === UNIQUE_VIOLATION) return ask();
    throw error;
  });
  return rows[0]!;
}

/** Reads `a b c,a b c`. Scanned rather than split, since each flush reads hundreds of triples. */
function parseTriples<Value>(text: string | null, read: (a: string, b: string, c: string) => Value): Value[] {
  const values: Value[] = [];
  for (let at = 0; text !== null && at < text.length; ) {
    const first = text.indexOf(' ', at);
    const second = text.indexOf(' ', first + 1);
    const comma = text.indexOf(',', second + 1);
    const end = comma === -1 ? text.length : comma;
    values.push(read(text.slice(at, first), text.slice(first + 1, second), text.slice(second + 1, end)));
    at = end + 1;
  }
  return values;
}

/** Whether the server itself reported the error, which leaves the connection usable. */
function isServerError(error: Error): boolean {
  return 'severity' in error && (error as { severity?: unknown }).severity === 'ERROR';
}

/** Whether a batch that failed with this error may have been committed nevertheless. */
export function isOutcomeUnknown(error: unknown): boolean {
  return unanswered.has(error as Error);
}

/**
 * Whether the database rejects the data itself (data exception, integrity violation, exception of a trigger), so that
 * sending it again doesn't help. All other errors (connection, deadlock, shutdown, missing table) may be temporary.
 */
export function isDataFault(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?:22|23|P0)[0-9A-Z]{3}$/.test(code);
}
