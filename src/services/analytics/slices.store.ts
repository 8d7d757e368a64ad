import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { HOUR_MS } from '../../lib/clock.js';
import { latencyBucket } from './rollups.store.js';

/** The open hour is rolled up in slices of this length, counted from its beginning. */
export const SLICE_MS = 5 * 60_000;
const SLICE = sql`interval '5 minutes'`;
/** An account with fewer calls in a slice has no roll-up of it: its calls are read in less than a millisecond. */
const LEAST_CALLS = 200;

/** The rolled-up slices of an account in an hour. */
interface SlicesOfHour {
  /** Their beginnings, ascending. */
  slices: Date[];
  /** Whether they and the calls of the rest of the hour are all of its calls. */
  isComplete: boolean;
}

/**
 * Flushes don't list slices. Instead, each counts the calls of the account's hour (`account_usage_hours`) in its
 * transaction: a call that was written after its slice was rolled up makes this count differ. Calls are never deleted while
 * their hour is open, so equal counts mean the same calls.
 */
export async function slicesOf(em: EntityManager, accountId: string, hour: Date): Promise<SlicesOfHour> {
  const [since, until] = boundsOf(hour);
  const { rows } = await sql<{ slices: number[]; complete: boolean | null }>`
    with sliced as materialized (
      select slice, sum(requests) as requests from usage_slices
      where account_id = ${accountId} and slice >= ${since} and slice < ${until} group by slice
    ), rest as (
      select count(*) as requests
      from generate_series(${since}::timestamptz, ${until}::timestamptz - ${SLICE}, ${SLICE}) as slice
        cross join lateral (
          select from usage_events where account_id = ${accountId} and created_at >= ${since} and created_at < ${until}
            and created_at >= slice and created_at < slice + ${SLICE}) calls
      where slice not in (select slice from sliced)
    )
    select array(select (extract(epoch from slice) * 1000)::float8 from sliced order by slice) as slices,
      (select events from account_usage_hours where account_id = ${accountId} and hour = ${since})
        = (select sum(requests) from sliced) + (select requests from rest) as complete`.execute(
    em.getKysely(),
  );
  return { slices: rows[0]!.slices.map((ms) => new Date(ms)), isComplete: rows[0]!.complete === true };
}

/**
 * Rolls up the slices of an hour that ended by `until`, for accounts with many calls in them, and again those of accounts
 * with calls that came late. Slices of earlier hours are removed an hour after those are over: no request that began with
 * them is still running.
 */
export async function sliceHour(em: EntityManager, hour: Date, until: Date): Promise<void> {
  const db = em.getKysely();
  const [begin, end] = boundsOf(hour);
  const { rows: sliced } = await sql<{ until_ms: number }>`
    select (extract(epoch from until) * 1000)::float8 as until_ms from usage_sliced_hours where hour = ${begin}`.execute(
    db,
  );
  const from = new Date(sliced[0]?.until_ms ?? hour.getTime());
  const late = await accountsWithLateCalls(em, hour);
  if (late.length > 0) {
    await sql`
      delete from usage_slices where account_id = any(${late}::uuid[]) and slice >= ${begin} and slice < ${end}`.execute(
      db,
    );
    await insertSlices(em, { from: hour, until: from, accounts: late });
  }
  if (until > from) {
    await insertSlices(em, { from, until });
    await sql`
      insert into usage_sliced_hours (hour, until) values (${begin}, ${until.toISOString()})
      on conflict (hour) do update set until = excluded.until`.execute(db);
  }
  const forgotten = new Date(hour.getTime() - HOUR_MS).toISOString();
  await sql`delete from usage_slices where slice < ${forgotten}`.execute(db);
  await sql`delete from usage_sliced_hours where hour < ${forgotten}`.execute(db);
}

async function accountsWithLateCalls(em: EntityManager, hour: Date): Promise<string[]> {
  const [begin, end] = boundsOf(hour);
  const { rows } = await sql<{ account_id: string }>`
    select distinct account_id from usage_slices where slice >= ${begin} and slice < ${end}`.execute(
    em.getKysely(),
  );
  const late: string[] = [];
  for (const { account_id: accountId } of rows) {
    if (!(await slicesOf(em, accountId, hour)).isComplete) late.push(accountId);
  }
  return late;
}

async function insertSlices(
  em: EntityManager,
  { from, until, accounts }: { from: Date; until: Date; accounts?: readonly string[] },
): Promise<void> {
  await sql`
    insert into usage_slices (slice, account_id, key_id, prompt_version_id, model, requests, errors, input_tokens,
      output_tokens, cost, latency_buckets, latency_counts)
    select slice, account_id, key_id, prompt_version_id, model, sum(requests), sum(errors), sum(input_tokens),
      sum(output_tokens), sum(cost), coalesce(array_agg(bucket order by bucket) filter (where requests > errors), '{}'),
      coalesce(array_agg(requests - errors order by bucket) filter (where requests > errors), '{}')
    from (
      select *, sum(requests) over (partition by account_id, slice) as of_account from (
        select date_bin(${SLICE}, created_at, timestamptz 'epoch') as slice, account_id, key_id, prompt_version_id,
          served_model as model, ${latencyBucket} as bucket, count(*) as requests,
          count(*) filter (where status = 'error') as errors, sum(input_tokens) as input_tokens,
          sum(output_tokens) as output_tokens, sum(cost) as cost
        from usage_events
        where created_at >= ${from.toISOString()} and created_at < ${until.toISOString()}
          ${accounts ? sql`and account_id = any(${accounts}::uuid[])` : sql``}
        group by 1, 2, 3, 4, 5, 6) buckets) counted
    where of_account >= ${LEAST_CALLS}
    group by slice, account_id, key_id, prompt_version_id, model`.execute(em.getKysely());
}

const boundsOf = (hour: Date): [string, string] => [
  hour.toISOString(),
  new Date(hour.getTime() + HOUR_MS).toISOString(),
];
