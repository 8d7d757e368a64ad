import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import type { BucketCount } from '../../lib/latency-sketch.js';
import { keptFrom } from '../retention/kept-from.store.js';
import { type DayAndModel, MOST_READ } from './analytics.rules.js';
import {
  type DirtyHours,
  daysOfDirty,
  dirtyWithin,
  isCurrent,
  isoTimes,
  unionOfDirty,
} from './dirty-hours.store.js';
import { latencyBucket } from './rollups.store.js';
import { pointsOf } from './sketch-points.js';

/** Whose events, and from when. It begins with a UTC day and may end within one. */
export interface Scope {
  accountId: string;
  /** Each of these keys separately; without them the account as a whole. */
  keyIds?: readonly string[] | undefined;
  /** Each key of the account separately, and calls without a key. */
  perKey?: boolean;
  from: Date;
  until: Date;
  /** The account's dirty hours. */
  dirty: DirtyHours;
}

/** The owner of a figure. */
interface Owned {
  /** Null for the account, or for calls without a key. */
  key_id: string | null;
}

const owned = ({ accountId, keyIds }: Scope): RawBuilder<unknown> =>
  sql`account_id = ${accountId} ${keyIds ? sql`and key_id = any(${keyIds}::uuid[])` : sql``}`;

const owner = ({ keyIds, perKey }: Scope): RawBuilder<unknown> =>
  keyIds || perKey ? sql`key_id` : sql`null::uuid as key_id`;

const within = (column: string, { from, until }: Pick<Scope, 'from' | 'until'>): RawBuilder<unknown> =>
  sql`${sql.ref(column)} >= ${from.toISOString()} and ${sql.ref(column)} < ${until.toISOString()}`;

/**
 * Condition on the hour of a roll-up: in the window. As a comparison of rows only the index of the account answers it. PostgreSQL
 * would prefer an index that begins with the hour, and read the hours of all accounts.
 */
function hoursOf(scope: Scope): RawBuilder<unknown> {
  const { accountId, keyIds, from, until } = scope;
  if (keyIds) return within('hour', scope);
  const at = (time: Date) => sql`(${accountId}::uuid, ${time.toISOString()}::timestamptz)`;
  return sql`(account_id, hour) >= ${at(from)} and (account_id, hour) < ${at(until)}`;
}

const withinDays = ({ from, until }: Scope): RawBuilder<unknown> =>
  sql`day >= ${from.toISOString().slice(0, 10)}::date and day < ${until.toISOString().slice(0, 10)}::date`;

const SUMS = sql`key_id, model, requests, errors, input_tokens, output_tokens, cost, latency_buckets, latency_counts`;

/** Roll-ups of hours, and of slices of dirty hours, as `rolled`. */
function rolledUp(scope: Scope, dirty: DirtyHours): RawBuilder<unknown> {
  const { slices } = dirty;
  return sql`from (
    select hour, ${SUMS} from usage_rollups where ${owned(scope)} and ${hoursOf(scope)} and ${isCurrent(dirty)}
    ${
      slices.length === 0
        ? sql``
        : sql`union all select date_bin('1 hour', slice, timestamptz 'epoch'), ${SUMS} from usage_slices
      where ${owned(scope)} and slice = any(${isoTimes(slices)}::timestamptz[])`
    }) rolled`;
}

/** Whether every event of the window still exists. */
interface Kept {
  kept: boolean;
}

/**
 * Counts per hour and model, as `parts`: `key_id, hour, model, requests, errors, input_tokens, output_tokens, cost`.
 * Several rows may have the same hour and model.
 */
export function countedParts(scope: Scope): RawBuilder<unknown> {
  const dirty = dirtyWithin(scope.dirty, scope);
  return sql`
    parts as (
      select ${owner(scope)}, hour, model, requests, errors, input_tokens, output_tokens, cost ${rolledUp(scope, dirty)}
      ${unionOfDirty(
        dirty,
        (inPeriod) => sql`
        select ${owner(scope)}, dirty.hour, served_model as model, count(*) as requests,
          count(*) filter (where status = 'error') as errors, sum(input_tokens) as input_tokens,
          sum(output_tokens) as output_tokens, sum(cost) as cost
        from usage_events where ${owned(scope)} and ${inPeriod} group by 1, 2, 3`,
      )}
    )`;
}

/** The beginning of an hour's UTC day. Ten thousands of rows are grouped by it: `at time zone` and a text cost more. */
export const utcDayOfHour = sql`date_bin('1 day', hour, timestamptz 'epoch')`;

/** Calls per UTC day and model. */
export async function countByDayAndModel(
  em: EntityManager,
  scope: Scope,
): Promise<(Owned & DayAndModel & Kept)[]> {
  const { rows } = await sql<Owned & DayAndModel & Kept>`
    with ${countedParts(scope)}
    select key_id, (${utcDayOfHour} at time zone 'UTC')::date::text as day, model, sum(requests)::float8 as requests,
      sum(errors)::float8 as errors, sum(input_tokens)::float8 as input_tokens,
      sum(output_tokens)::float8 as output_tokens, sum(cost)::text as cost,
      ${scope.from.toISOString()}::timestamptz >= ${keptFrom} as kept
    from parts group by key_id, ${utcDayOfHour}, model`.execute(em.getKysely());
  return rows;
}

/**
 * Latencies of successful calls, merged from the sketches of whole days where those are current, otherwise from the
 * sketches of hours.
 */
export async function latencySketch(em: EntityManager, scope: Scope): Promise<(Owned & BucketCount)[]> {
  const dirty = dirtyWithin(scope.dirty, scope);
  const { rows } = await sql<Owned & BucketCount>`
    with open_days as materialized (
      select day from rollup_dirty_days where ${withinDays(scope)} union ${daysOfDirty(dirty)}
    ), parts as (
      select ${owner(scope)}, ${pointsOf()}
      from usage_latency_days where ${owned(scope)} and ${withinDays(scope)} and day not in (select day from open_days)
      union all
      select key_id, ${pointsOf()} from open_days cross join lateral (
        select ${owner(scope)}, latency_buckets, latency_counts ${rolledUp(scope, dirty)}
        where hour >= open_days.day::timestamp at time zone 'UTC'
          and hour < (open_days.day + 1)::timestamp at time zone 'UTC') rolled
      ${unionOfDirty(
        dirty,
        (inPeriod) => sql`
        select ${owner(scope)}, ${latencyBucket}, count(*) from usage_events
        where ${owned(scope)} and ${inPeriod} and status = 'success' group by 1, 2`,
      )}
    )
    select key_id, bucket, sum(n) as count from parts group by key_id, bucket`.execute(em.getKysely());
  return rows;
}

/**
 * Whether the account has so few calls in a window that they may be read. The calls of one key or prompt version have
 * no index: they are found among all of the account's.
 */
export async function hasFewCalls(
  em: EntityManager,
  { accountId, from, until }: Pick<Scope, 'accountId' | 'from' | 'until'>,
): Promise<boolean> {
  const { rows } = await sql<{ few: boolean }>`
    select coalesce(sum(events), 0) <= ${MOST_READ}::bigint as few from account_usage_hours
    where account_id = ${accountId} and ${within('hour', { from, until })}`.execute(em.getKysely());
  return rows[0]!.few;
}

/**
 * Percentiles of the latencies of successful calls, by nearest rank over all of them. Owners without such calls are
 * absent.
 */
export async function exactLatencies(
  em: EntityManager,
  scope: Scope,
  quantiles: readonly number[],
): Promise<(Owned & { latencies: number[] })[]> {
  const { rows } = await sql<Owned & { latencies: number[] }>`
    select key_id, percentile_disc(${sql.lit(`{${quantiles}}`)}::float8[]) within group (order by latency_ms) as latencies
    from (select ${owner(scope)}, latency_ms from usage_events
      where ${owned(scope)} and ${within('created_at', scope)} and status = 'success') events
    group by key_id`.execute(em.getKysely());
  return rows;
}
