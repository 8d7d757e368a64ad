import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { utcDay } from '../../lib/clock.js';
import type { BucketCount } from '../../lib/latency-sketch.js';
import {
  type DirtyHours,
  daysOfDirty,
  dirtyWithin,
  inHour,
  isCurrent,
  isoTimes,
  unionOfDirty,
} from '../analytics/dirty-hours.store.js';
import { latencyBucket } from '../analytics/rollups.store.js';
import { pointsOf } from '../analytics/sketch-points.js';
import { keptFrom } from '../retention/kept-from.store.js';

/** Recomputes the figures of an hour from all of its events with a version (latencies from successful calls). */
export async function recomputeVersionHour(em: EntityManager, hour: Date): Promise<void> {
  const db = em.getKysely();
  const at = hour.toISOString();
  await sql`delete from prompt_version_hours where hour = ${at}`.execute(db);
  await sql`
    insert into prompt_version_hours (version_id, hour, account_id, key_id, model, requests, errors, input_tokens,
      output_tokens, cost, latency_buckets, latency_counts)
    select version_id, ${at}, account_id, key_id, model, sum(requests), sum(errors), sum(input_tokens),
      sum(output_tokens), sum(cost), coalesce(array_agg(bucket order by bucket) filter (where requests > errors), '{}'),
      coalesce(array_agg(requests - errors order by bucket) filter (where requests > errors), '{}')
    from (
      select prompt_version_id as version_id, account_id, key_id, served_model as model, ${latencyBucket} as bucket,
        count(*) as requests, count(*) filter (where status = 'error') as errors, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cost) as cost
      from usage_events
      where ${inHour(hour)} and prompt_version_id is not null
      group by 1, 2, 3, 4, 5) buckets
    group by version_id, account_id, key_id, model`.execute(db);
}

/** Merges the latencies of a day's hours: three months of hours have too many sketches for one response. */
export async function mergeVersionDay(em: EntityManager, day: string): Promise<void> {
  const db = em.getKysely();
  await sql`delete from prompt_version_latency_days where day = ${day}`.execute(db);
  await sql`
    insert into prompt_version_latency_days (version_id, day, account_id, latency_buckets, latency_counts)
    select version_id, ${day}, account_id, array_agg(bucket order by bucket), array_agg(n order by bucket)
    from (
      select version_id, account_id, bucket, sum(n)::bigint as n
      from prompt_version_hours cross join lateral unnest(latency_buckets, latency_counts) as u(bucket, n)
      where hour >= ${day}::date::timestamp at time zone 'UTC'
        and hour < (${day}::date + 1)::timestamp at time zone 'UTC'
      group by 1, 2, 3) buckets
    group by version_id, account_id`.execute(db);
}

/** Whose versions, and from which time. It begins and ends with a UTC day. */
export interface VersionScope {
  accountId: string;
  versionIds: readonly string[];
  /** Only calls with this key. */
  keyId?: string | undefined;
  from: Date;
  until: Date;
  /** The account's dirty hours. */
  dirty: DirtyHours;
}

const ofKey = ({ keyId }: VersionScope): RawBuilder<unknown> => (keyId ? sql`and key_id = ${keyId}` : sql``);

const SUMS = sql`model, requests, errors, input_tokens, output_tokens, cost, latency_buckets, latency_counts`;

/** Roll-ups of hours, and of slices of dirty hours, as `rolled`. */
function rolledUp(scope: VersionScope, dirty: DirtyHours): RawBuilder<unknown> {
  const { accountId, versionIds, from, until } = scope;
  const { slices } = dirty;
  return sql`from (
    select hour, version_id, ${SUMS} from prompt_version_hours
    where version_id = any(${versionIds}::uuid[]) and account_id = ${accountId} and hour >= ${from.toISOString()}
      and hour < ${until.toISOString()} and ${isCurrent(dirty)} ${ofKey(scope)}
    ${
      slices.length === 0
        ? sql``
        : sql`union all select date_bin('1 hour', slice, timestamptz 'epoch'), prompt_version_id, ${SUMS} from usage_slices
      where prompt_version_id = any(${versionIds}::uuid[]) and account_id = ${accountId}
        and slice = any(${isoTimes(slices)}::timestamptz[]) ${ofKey(scope)}`
    }) rolled`;
}

const calledIn = (scope: VersionScope, inPeriod: RawBuilder<boolean>): RawBuilder<unknown> => sql`
  from usage_events where account_id = ${scope.accountId} and prompt_version_id = any(${scope.versionIds}::uuid[])
    and ${inPeriod} ${ofKey(scope)}`;

/** Counts of the calls of a version that one model served. */
export interface VersionCounts {
  version_id: string;
  model: string;
  requests: number;
  errors: number;
  /** Strings, since there may be many tokens. */
  input_tokens: string;
  output_tokens: string;
  /** Dollars. */
  cost: string;
  /** Whether every event of the period still exists. */
  kept: boolean;
}

/** Calls by version and model. Versions without calls are absent. */
export async function countVersions(em: EntityManager, scope: VersionScope): Promise<VersionCounts[]> {
  const dirty = dirtyWithin(scope.dirty, scope);
  const { rows } = await sql<VersionCounts>`
    with parts as (
      select version_id, model, requests, errors, input_tokens, output_tokens, cost ${rolledUp(scope, dirty)}
      ${unionOfDirty(
        dirty,
        (
          inPeriod,
        ) => sql`select prompt_version_id, served_model, count(*), count(*) filter (where status = 'error'), sum(input_tokens),
          sum(output_tokens), sum(cost) ${calledIn(scope, inPeriod)} group by 1, 2`,
      )}
    )
    select version_id, model, sum(requests)::float8 as requests, sum(errors)::float8 as errors,
      sum(input_tokens)::text as input_tokens, sum(output_tokens)::text as output_tokens, sum(cost)::text as cost,
      ${scope.from.toISOString()}::timestamptz >= ${keptFrom} as kept
    from parts group by 1, 2`.execute(em.getKysely());
  return rows;
}

/**
 * Latencies of successful calls with any key, merged from the sketches of whole days where those are current,
 * otherwise from the sketches of hours.
 */
export async function versionSketches(
  em: EntityManager,
  scope: VersionScope,
): Promise<({ version_id: string } & BucketCount)[]> {
  const { accountId, versionIds, from, until } = scope;
  const dirty = dirtyWithin(scope.dirty, scope);
  const { rows } = await sql<{ version_id: string } & BucketCount>`
    with open_days as materialized (
      select day from rollup_dirty_days union ${daysOfDirty(dirty)}
    ), parts as (
      select version_id, ${pointsOf()}
      from prompt_version_latency_days where version_id = any(${versionIds}::uuid[]) and account_id = ${accountId}
        and day >= ${utcDay(from.getTime())}::date and day < ${utcDay(until.getTime())}::date
        and day not in (select day from open_days)
      union all
      select version_id, ${pointsOf()} from open_days cross join lateral (
        select version_id, latency_buckets, latency_counts ${rolledUp(scope, dirty)}
        where hour >= open_days.day::timestamp at time zone 'UTC'
          and hour < (open_days.day + 1)::timestamp at time zone 'UTC') rolled
      ${unionOfDirty(
        dirty,
        (
          inPeriod,
        ) => sql`select prompt_version_id, ${latencyBucket}, count(*) ${calledIn(scope, inPeriod)} and status = 'success'
        group by 1, 2`,
      )}
    )
    select version_id, bucket, sum(n) as count from parts group by 1, 2`.execute(em.getKysely());
  return rows;
}

/**
 * Percentiles of the latencies of successful calls, by nearest rank over all of them. Versions without such calls are
 * absent.
 */
export async function exactVersionLatencies(
  em: EntityManager,
  scope: VersionScope,
  quantiles: readonly number[],
): Promise<{ version_id: string; latencies: number[] }[]> {
  const { rows } = await sql<{ version_id: string; latencies: number[] }>`
    select prompt_version_id as version_id,
      percentile_disc(${sql.lit(`{${quantiles}}`)}::float8[]) within group (order by latency_ms) as latencies
    from usage_events
    where account_id = ${scope.accountId} and prompt_version_id = any(${scope.versionIds}::uuid[]) and status = 'success'
      and created_at >= ${scope.from.toISOString()} and created_at < ${scope.until.toISOString()} ${ofKey(scope)}
    group by 1`.execute(em.getKysely());
  return rows;
}
