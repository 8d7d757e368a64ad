import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { advisoryLocks } from '../../db/locks.js';
import { latencyBounds } from '../../lib/latency-sketch.js';
import { keptFrom } from '../retention/kept-from.store.js';
import { inHour } from './dirty-hours.store.js';

/** The bucket of an event's latency: its index in the list of bounds. */
export const latencyBucket = sql<number>`width_bucket(latency_ms, ${sql.lit(`{${latencyBounds}}`)}::integer[])`;

/**
 * Locks the roll-ups until the transaction ends.
 * @returns false if another process is rolling up.
 */
export async function lockRollups(em: EntityManager): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.rollups)}) as locked`.execute(em.getKysely());
  return rows[0]!.locked;
}

/**
 * Removes the oldest hour that began before `beforeMs` from the list and returns it; undefined without one. An hour
 * whose events were deleted keeps its sums.
 */
export async function takeDirtyHour(em: EntityManager, beforeMs: number): Promise<Date | undefined> {
  const { rows } = await sql<{ hour_ms: number }>`
    with taken as (
      delete from rollup_dirty
      where hour = (select min(hour) from rollup_dirty
        where hour < ${new Date(beforeMs).toISOString()} and hour >= ${keptFrom})
      returning hour
    ) select (extract(epoch from hour) * 1000)::float8 as hour_ms from taken limit 1`.execute(em.getKysely());
  return rows[0] && new Date(rows[0].hour_ms);
}

/**
 * Reduces each hour from `fromMs` on to one row: every flush adds one until the hour is over. Removes hours whose
 * events were deleted, which a very late event has listed again.
 */
export async function compactDirtyHours(em: EntityManager, fromMs: number): Promise<void> {
  await sql`
    with forgotten as (delete from rollup_dirty where hour < ${keptFrom}),
      taken as (delete from rollup_dirty where hour >= ${new Date(fromMs).toISOString()} returning hour)
    insert into rollup_dirty select distinct hour from taken`.execute(em.getKysely());
}

/**
 * Recomputes the roll-ups of an hour from all of its events (latencies from successful calls), and lists its day to
 * be merged again. Must be a separate statement after `takeDirtyHour`: under READ COMMITTED it then sees every event
 * whose transaction had put the hour on the list.
 */
export async function recomputeHour(em: EntityManager, hour: Date): Promise<void> {
  const db = em.getKysely();
  const at = hour.toISOString();
  await sql`delete from usage_rollups where hour = ${at}`.execute(db);
  await sql`
    insert into usage_rollups (hour, account_id, key_id, widget_id, model, requests, errors, input_tokens,
      output_tokens, cost, latency_buckets, latency_counts)
    select ${at}, account_id, key_id, widget_id, served_model, sum(requests), sum(errors), sum(input_tokens),
      sum(output_tokens), sum(cost), coalesce(array_agg(bucket order by bucket) filter (where requests > errors), '{}'),
      coalesce(array_agg(requests - errors order by bucket) filter (where requests > errors), '{}')
    from (
      select account_id, key_id, widget_id, served_model, ${latencyBucket} as bucket, count(*) as requests,
        count(*) filter (where status = 'error') as errors, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cost) as cost
      from usage_events
      where ${inHour(hour)}
      group by 1, 2, 3, 4, 5) buckets
    group by account_id, key_id, widget_id, served_model`.execute(db);
  await sql`
    insert into rollup_dirty_days values ((${at}::timestamptz at time zone 'UTC')::date)
    on conflict do nothing`.execute(db);
  await listForAudit(em, at);
}

/** Has the audit check an hour, with its day. */
async function listForAudit(em: EntityManager, hour: string): Promise<void> {
  await sql`
    insert into audit_times (since, until) values (${hour}, ${hour}::timestamptz + interval '1 hour')`.execute(
    em.getKysely(),
  );
}

/** Removes the oldest day that ended by `untilMs` from the list and returns it; undefined without one. */
export async function takeDirtyDay(em: EntityManager, untilMs: number): Promise<string | undefined> {
  const { rows } = await sql<{ day: string }>`
    delete from rollup_dirty_days
    where day = (select min(day) from rollup_dirty_days
      where day < (${new Date(untilMs).toISOString()}::timestamptz at time zone 'UTC')::date)
    returning day::text as day`.execute(em.getKysely());
  return rows[0]?.day;
}

/** Removes the oldest day that was merged without its cost from the list and returns it; undefined without one. */
export async function takeUnsummedDay(em: EntityManager): Promise<string | undefined> {
  const { rows } = await sql<{ day: string }>`
    delete from rollup_unsummed_days where day = (select min(day) from rollup_unsummed_days)
    returning day::text as day`.execute(em.getKysely());
  return rows[0]?.day;
}

/**
 * Merges latencies and cost of a day's roll-ups: three months of hours have too many sketches for one response, and
 * two years too many costs. Owners without successful calls are absent: errors cost nothing.
 */
export async function mergeDay(em: EntityManager, day: string): Promise<void> {
  const db = em.getKysely();
  await listForAudit(em, `${day}T00:00:00Z`);
  await sql`delete from usage_latency_days where day = ${day}`.execute(db);
  await sql`
    with hours as (
      select account_id, key_id, widget_id, latency_buckets, latency_counts, cost from usage_rollups
      where hour >= ${day}::date::timestamp at time zone 'UTC'
        and hour < (${day}::date + 1)::timestamp at time zone 'UTC'
    )
    insert into usage_latency_days (day, account_id, key_id, widget_id, latency_buckets, latency_counts, cost)
    select ${day}, account_id, key_id, widget_id, array_agg(bucket order by bucket) filter (where bucket is not null),
      array_agg(n order by bucket) filter (where bucket is not null), sum(cost)
    from (
      select account_id, key_id, widget_id, bucket, sum(n)::bigint as n, 0 as cost
      from hours cross join lateral unnest(latency_buckets, latency_counts) as u(bucket, n)
      group by 1, 2, 3, 4
      union all
      select account_id, key_id, widget_id, null, null, sum(cost) from hours group by 1, 2, 3) buckets
    group by account_id, key_id, widget_id
    having count(bucket) > 0`.execute(db);
}
