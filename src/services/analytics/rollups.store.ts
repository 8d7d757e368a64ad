import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { advisoryLocks } from '../../db/locks.js';
import { latencyBounds } from '../../lib/latency-sketch.js';

/** The bucket of an event's latency: its number in the list of bounds. */
export const latencyBucket = sql<number>`width_bucket(latency_ms, ${sql.lit(`{${latencyBounds}}`)}::integer[])`;

/**
 * Keeps other roll-ups away until the transaction ends.
 * @returns whether nobody else was at it.
 */
export async function lockRollups(em: EntityManager): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.rollups)}) as locked`.execute(em.getKysely());
  return rows[0]!.locked;
}

/** Takes the oldest hour that began before `beforeMs` off the list; undefined when there is none. */
export async function takeDirtyHour(em: EntityManager, beforeMs: number): Promise<Date | undefined> {
  const { rows } = await sql<{ hour_ms: number }>`
    with taken as (
      delete from rollup_dirty
      where hour = (select min(hour) from rollup_dirty where hour < ${new Date(beforeMs).toISOString()})
      returning hour
    ) select (extract(epoch from hour) * 1000)::float8 as hour_ms from taken limit 1`.execute(em.getKysely());
  return rows[0] && new Date(rows[0].hour_ms);
}

/** Leaves one row of each hour from `fromMs` on: every flush adds one, and they wait until the hour is over. */
export async function compactDirtyHours(em: EntityManager, fromMs: number): Promise<void> {
  await sql`
    with taken as (delete from rollup_dirty where hour >= ${new Date(fromMs).toISOString()} returning hour)
    insert into rollup_dirty select distinct hour from taken`.execute(em.getKysely());
}

/**
 * Makes the roll-ups of an hour anew from all of its events. In a statement of its own after `takeDirtyHour`: under
 * READ COMMITTED it then sees every event whose transaction had put the hour on the list.
 */
export async function recomputeHour(em: EntityManager, hour: Date): Promise<void> {
  const db = em.getKysely();
  const at = hour.toISOString();
  await sql`delete from usage_rollups where hour = ${at}`.execute(db);
  await sql`
    insert into usage_rollups (hour, account_id, key_id, widget_id, model, requests, errors, input_tokens,
      output_tokens, cost, latency_buckets, latency_counts)
    select ${at}, account_id, key_id, widget_id, served_model, sum(requests), sum(errors), sum(input_tokens),
      sum(output_tokens), sum(cost), array_agg(bucket order by bucket), array_agg(requests order by bucket)
    from (
      select account_id, key_id, widget_id, served_model, ${latencyBucket} as bucket, count(*) as requests,
        count(*) filter (where status = 'error') as errors, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cost) as cost
      from usage_events
      where created_at >= ${at} and created_at < ${at}::timestamptz + interval '1 hour'
      group by 1, 2, 3, 4, 5) buckets
    group by account_id, key_id, widget_id, served_model`.execute(db);
}
