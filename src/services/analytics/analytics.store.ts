import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import type { BucketCount } from '../../lib/latency-sketch.js';
import type { DayAndModel } from './analytics.rules.js';
import { latencyBucket } from './rollups.store.js';

/** Whose events of which time; both ends are UTC midnights. */
export interface Scope {
  accountId: string;
  /** Only those of this key. */
  keyId?: string | undefined;
  from: Date;
  until: Date;
}

const owned = ({ accountId, keyId }: Scope): RawBuilder<unknown> =>
  sql`account_id = ${accountId} ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`}`;

const within = (column: string, { from, until }: Scope): RawBuilder<unknown> =>
  sql`${sql.ref(column)} >= ${from.toISOString()} and ${sql.ref(column)} < ${until.toISOString()}`;

const withinDays = ({ from, until }: Scope): RawBuilder<unknown> =>
  sql`day >= ${from.toISOString().slice(0, 10)}::date and day < ${until.toISOString().slice(0, 10)}::date`;

/** Hours whose roll-ups aren't right (yet): they are read from the events. */
const dirtyHours = (scope: Scope): RawBuilder<unknown> =>
  sql`dirty as materialized (select distinct hour from rollup_dirty where ${within('hour', scope)})`;

const rolledUp = (scope: Scope): RawBuilder<unknown> =>
  sql`from usage_rollups where ${owned(scope)} and ${within('hour', scope)} and hour not in (select hour from dirty)`;

const ofDirtyHour = (scope: Scope): RawBuilder<unknown> =>
  sql`from usage_events where ${owned(scope)} and created_at >= dirty.hour
    and created_at < dirty.hour + interval '1 hour'`;

/** Calls per UTC day and model. */
export async function countByDayAndModel(em: EntityManager, scope: Scope): Promise<DayAndModel[]> {
  const { rows } = await sql<DayAndModel>`
    with ${dirtyHours(scope)}, parts as (
      select hour, model, requests, errors, input_tokens, output_tokens, cost ${rolledUp(scope)}
      union all
      select dirty.hour, raw.* from dirty cross join lateral (
        select served_model, count(*), count(*) filter (where status = 'error'), sum(input_tokens),
          sum(output_tokens), sum(cost)
        ${ofDirtyHour(scope)} group by served_model) raw
    )
    select (hour at time zone 'UTC')::date::text as day, model, sum(requests)::float8 as requests,
      sum(errors)::float8 as errors, sum(input_tokens)::float8 as input_tokens,
      sum(output_tokens)::float8 as output_tokens, sum(cost)::text as cost
    from parts group by 1, 2`.execute(em.getKysely());
  return rows;
}

/** Latencies of the calls, merged from the sketches: of whole days where those are right, else of their hours. */
export async function latencySketch(em: EntityManager, scope: Scope): Promise<BucketCount[]> {
  const { rows } = await sql<BucketCount>`
    with ${dirtyHours(scope)}, open_days as materialized (
      select day from rollup_dirty_days
      union select (hour at time zone 'UTC')::date from dirty
    ), parts as (
      select unnest(latency_buckets) as bucket, unnest(latency_counts) as n
      from usage_latency_days where ${owned(scope)} and ${withinDays(scope)} and day not in (select day from open_days)
      union all
      select unnest(latency_buckets), unnest(latency_counts) from open_days cross join lateral (
        select latency_buckets, latency_counts ${rolledUp(scope)}
          and hour >= open_days.day::timestamp at time zone 'UTC'
          and hour < (open_days.day + 1)::timestamp at time zone 'UTC') rolled
      union all
      select raw.* from dirty cross join lateral (
        select ${latencyBucket}, count(*) ${ofDirtyHour(scope)} group by 1) raw
    )
    select bucket, sum(n)::float8 as count from parts group by bucket`.execute(em.getKysely());
  return rows;
}

/** Percentiles of the calls' latencies by nearest rank, from each of them; null where there is none. */
export async function exactLatencies(
  em: EntityManager,
  scope: Scope,
  quantiles: readonly number[],
): Promise<number[] | null> {
  const { rows } = await sql<{ found: number[] | null }>`
    select percentile_disc(${sql.lit(`{${quantiles}}`)}::float8[]) within group (order by latency_ms) as found
    from usage_events where ${owned(scope)} and ${within('created_at', scope)}`.execute(em.getKysely());
  return rows[0]!.found;
}

/** How many events the whole account has in the time: what `exactLatencies` may have to read for one of its keys. */
export async function countAccountEvents(em: EntityManager, scope: Scope): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select coalesce(sum(events), 0)::float8 as n from account_usage_hours
    where account_id = ${scope.accountId} and ${within('hour', scope)}`.execute(em.getKysely());
  return rows[0]!.n;
}
