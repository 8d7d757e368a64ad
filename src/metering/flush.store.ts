import type { Pool, PoolClient } from 'pg';
import { askWithin, connectWithin, type Question } from '../db/bounded.js';
import { parseMoney } from '../lib/money.js';
import { fireAlerts } from './alerts.store.js';
import type { FlushResult, UsageRecord } from './usage-record.js';

/** Error code of a call whose process died before it finished. */
export const TERMINATED = 'gateway_terminated';

/** Milliseconds for a connection, for one statement on the server, and for its answer (a frozen server sends none). */
const CONNECT_TIMEOUT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 4_000;
const ANSWER_TIMEOUT_MS = 5_000;

export interface BatchResult extends Pick<FlushResult, 'accounts' | 'keyDays' | 'alerted'> {
  /** How many events this transaction wrote; the others of the batch were there already. */
  inserted: number;
  /** Records of accounts that don't exist: nothing was written for them. */
  refused: UsageRecord[];
}

// READ COMMITTED: locking in a statement of its own lets the next one see the balances as they are under the lock.
// `no key`: nothing here changes an account's id, so that inserts of rows that point to it need not wait.
const LOCK_ACCOUNTS = {
  name: 'metering-lock',
  text: `select string_agg(id::text, ' ') as ids from (
    select id from accounts where id = any($1::uuid[]) order by id for no key update) as locked`,
};

/** A busy key's last use is written once in this time: it is shown in seconds, and each writing costs as much as an event. */
const LAST_USED_STEP = '2 seconds';

/**
 * Amounts arrive as whole numbers of 1e-12 dollars. Only rows really inserted are charged. An event is not inserted
 * when its primary key is there, when its id was charged before under another time, or when it says that the process
 * died while the finished call is there.
 * The hours of `rollup_dirty` are only ever added: a row that was there already could be taken by a roll-up that
 * doesn't see this transaction yet.
 * The look-up in the ledger is a scalar subquery: as an anti-join it becomes a hash over the whole ledger wherever
 * statistics are older than the load, and a flush then takes as long as the ledger is large.
 */
const WRITE_EVENTS = {
  name: 'metering-write',
  text: `
with e as (
  select id, timestamptz 'epoch' + at_ms * interval '1 millisecond' as created_at, account_id, key_id, widget_id,
    requested_model, served_model, endpoint, stream, input_tokens, output_tokens, price_in * 0.000001 as price_in,
    price_out * 0.000001 as price_out, cost * 0.000000000001 as cost, latency_ms, ttft_ms, status, error_code,
    http_status, client_aborted, estimated, anomalous, position
  from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[],
    $9::boolean[], $10::integer[], $11::integer[], $12::numeric[], $13::numeric[], $14::numeric[], $15::integer[],
    $16::integer[], $17::text[], $18::text[], $19::integer[], $20::boolean[], $21::boolean[], $22::boolean[])
    with ordinality as t(id, at_ms, account_id, key_id, widget_id, requested_model, served_model, endpoint, stream,
      input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code, http_status,
      client_aborted, estimated, anomalous, position)
), inserted as (
  insert into usage_events (id, created_at, account_id, key_id, widget_id, requested_model, served_model, endpoint,
    stream, input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code,
    http_status, client_aborted, estimated, anomalous)
  select id, created_at, account_id, key_id, widget_id, requested_model, served_model, endpoint, stream,
    input_tokens, output_tokens, price_in, price_out, cost, latency_ms, ttft_ms, status, error_code, http_status,
    client_aborted, estimated, anomalous
  from e
  where (select true from ledger_entries l where l.kind = 'usage' and l.event_id = e.id) is null
    and not (e.error_code is not distinct from '${TERMINATED}' and exists (
      select from usage_events u where u.account_id = e.account_id and u.id = e.id
        and u.created_at >= e.created_at and u.created_at < e.created_at + interval '1 day'))
  on conflict (created_at, id) do nothing
  returning id, created_at, account_id, key_id, cost, price_in, price_out
), charged as (
  select i.*, row_number() over w as nth, sum(i.cost) over w as upto
  from inserted i join e on e.id = i.id where i.cost > 0
  window w as (partition by i.account_id order by e.position)
), entries as (
  insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, price_in, price_out, created_at)
  select c.id, c.account_id, a.ledger_seq + c.nth, 'usage', -c.cost, a.balance - c.upto, c.id, c.price_in,
    c.price_out, c.created_at
  from charged c join accounts a on a.id = c.account_id
), balances as (
  update accounts a set balance = a.balance - t.total, ledger_seq = a.ledger_seq + t.entries
  from (select account_id, count(*) as entries, sum(cost) as total from charged group by account_id) t
  where a.id = t.account_id
  returning a.id, a.balance, a.ledger_seq, a.low_balance_armed and a.balance < a.low_balance_threshold_usd as low
), days as (
  insert into key_spend_days as s (key_id, day, spend)
  select key_id, (created_at at time zone 'UTC')::date, sum(cost) from charged where key_id is not null group by 1, 2
  on conflict (key_id, day) do update set spend = s.spend + excluded.spend
  returning key_id, day, spend
), months as (
  insert into key_spend_months as s (key_id, month, spend)
  select key_id, to_char(created_at at time zone 'UTC', 'YYYY-MM'), sum(cost)
  from charged where key_id is not null group by 1, 2
  on conflict (key_id, month) do update set spend = s.spend + excluded.spend
), hours as (
  insert into account_usage_hours as h (account_id, hour, events)
  select account_id, date_trunc('hour', created_at, 'UTC'), count(*) from inserted group by 1, 2
  on conflict (account_id, hour) do update set events = h.events + excluded.events
), dirty as (
  insert into rollup_dirty (hour) select distinct date_trunc('hour', created_at, 'UTC') from inserted
), used as (
  update api_keys k set last_used_at = greatest(k.last_used_at, x.at)
  from (select key_id, max(created_at) as at from inserted where key_id is not null group by key_id) x
  where k.id = x.key_id and (k.last_used_at is null or k.last_used_at < x.at - interval '${LAST_USED_STEP}')
), touched as (
  select distinct key_id, (created_at at time zone 'UTC')::date as day from e where key_id is not null
)
select (select count(*)::integer from inserted) as inserted,
  (select string_agg(id || ' ' || balance || ' ' || ledger_seq, ',') from (
     select id, balance, ledger_seq from balances
     union all select a.id, a.balance, a.ledger_seq from accounts a
     where (select count(*) from balances) < $23::integer and a.id = any($24::uuid[])
       and not exists (select from balances b where b.id = a.id)) told) as balances,
  (select string_agg(key_id || ' ' || day || ' ' || spend, ',') from (
     select key_id, day, spend from days
     union all select s.key_id, s.day, s.spend from key_spend_days s join touched using (key_id, day)
     where (select count(*) from days) < (select count(*) from touched)
       and not exists (select from days d where d.key_id = s.key_id and d.day = s.day)) told) as key_days,
  exists (select from balances where low) or exists (
    select from touched t cross join lateral (
      select from alert_subscriptions s where s.key_id = t.key_id and s.active offset 0) s) as watched`,
};

/**
 * Plans are kept with the connection: one that was made while tables were empty must not read them from end to end
 * when they have grown.
 */
const BEGIN = `begin; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}; set local enable_seqscan = off;`;

interface WriteRow {
  inserted: number;
  /** Whether somebody wants to be told about one of these keys or accounts. */
  watched: boolean;
  /** Where each account stands now: id, balance and ledger sequence. Texts, which cost both sides least. */
  balances: string | null;
  /** What each key has spent on each day of the batch: id, day and amount. */
  key_days: string | null;
}

/**
 * Commits events in ONE transaction: usage rows, and for those really inserted the debits, balances, spend of keys,
 * counts per hour, the hours to roll up, and the alerts that fire. Replaying a batch changes nothing.
 * @throws Error of the database, the whole batch rolled back; after a lost connection the outcome is unknown and
 *   the same batch is to be sent again.
 */
export async function flushBatch(pool: Pool, records: readonly UsageRecord[]): Promise<BatchResult> {
  const client = await connectWithin(pool, CONNECT_TIMEOUT_MS);
  let failure: Error | undefined;
  try {
    await ask(client, BEGIN);
    const result = await write(client, records);
    await ask(client, 'commit');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw failure;
  } finally {
    if (failure && isServerError(failure)) failure = await rollback(client);
    client.release(failure);
  }
}

async function write(client: PoolClient, records: readonly UsageRecord[]): Promise<BatchResult> {
  const accountIds = [...new Set(records.map((record) => record.accountId))];
  const locked = await ask<{ ids: string | null }>(client, { ...LOCK_ACCOUNTS, values: [`{${accountIds}}`] });
  const accounts = new Set(locked.rows[0]!.ids?.split(' '));
  const byId = new Map<string, UsageRecord>();
  const refused: UsageRecord[] = [];
  for (const record of records) {
    if (!accounts.has(record.accountId.toLowerCase())) refused.push(record);
    else if (!byId.has(record.id)) byId.set(record.id, record);
  }
  const values = [...columns([...byId.values()]), accounts.size, `{${[...accounts]}}`];
  const written = await ask<WriteRow>(client, { ...WRITE_EVENTS, values });
  const row = written.rows[0]!;
  const alerted =
    row.inserted > 0 && row.watched
      ? await fireAlerts((question) => ask(client, question), [...byId.values()])
      : [];
  return {
    inserted: row.inserted,
    refused,
    alerted,
    accounts: told(row.balances, ([id, balance, seq]) => ({
      id,
      balance: parseMoney(balance),
      seq: BigInt(seq),
    })),
    keyDays: told(row.key_days, ([keyId, day, spend]) => ({ keyId, day, spend: parseMoney(spend) })),
  };
}

function told<Value>(text: string | null, read: (parts: [string, string, string]) => Value): Value[] {
  return text === null
    ? []
    : text.split(',').map((line) => read(line.split(' ') as [string, string, string]));
}

/**
 * The columns of a batch as PostgreSQL's array literals. The driver would look for quotes in every value; here
 * only texts, which may hold any character, are escaped.
 */
function columns(records: UsageRecord[]): string[] {
  type Plain = string | number | bigint | boolean | null;
  const plain = (of: (record: UsageRecord) => Plain): string =>
    `{${records.map((record) => of(record) ?? 'NULL').join(',')}}`;
  const text = (of: (record: UsageRecord) => string | null): string =>
    `{${records.map((record) => quoted(of(record))).join(',')}}`;
  return [
    plain((r) => r.id),
    plain((r) => r.createdAt),
    plain((r) => r.accountId),
    plain((r) => r.keyId),
    plain((r) => r.widgetId),
    text((r) => r.requestedModel),
    text((r) => r.servedModel),
    plain((r) => r.endpoint),
    plain((r) => r.stream),
    plain((r) => r.inputTokens),
    plain((r) => r.outputTokens),
    plain((r) => r.priceIn),
    plain((r) => r.priceOut),
    plain((r) => r.cost),
    plain((r) => r.latencyMs),
    plain((r) => r.ttftMs),
    plain((r) => r.status),
    text((r) => r.errorCode),
    plain((r) => r.httpStatus),
    plain((r) => r.clientAborted),
    plain((r) => r.estimated),
    plain((r) => r.anomalous),
  ];
}

function quoted(text: string | null): string {
  if (text === null) return 'NULL';
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}

/** A query that fails when its answer doesn't come, as from a server that is frozen. */
function ask<Row extends object>(client: PoolClient, question: Question | string) {
  return askWithin<Row>(client, question, ANSWER_TIMEOUT_MS);
}

/** Whether the server itself reported the error, so that the connection still stands. */
function isServerError(error: Error): boolean {
  return 'severity' in error && (error as { severity?: unknown }).severity === 'ERROR';
}

/** @returns The error that makes the connection unusable, or undefined. */
async function rollback(client: PoolClient): Promise<Error | undefined> {
  try {
    await ask(client, 'rollback');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Whether the database refuses the data itself (data exception, integrity violation, raised by a trigger), so that
 * sending it again can't help. Everything else (connection, deadlock, shutdown, missing table) may pass.
 */
export function isDataFault(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?:22|23|P0)[0-9A-Z]{3}$/.test(code);
}
