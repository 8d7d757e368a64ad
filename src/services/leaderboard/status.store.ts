import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { pointsOf } from '../analytics/sketch-points.js';
import { type CountedHours, isCounted } from './quiet-hours.store.js';
import type { BadHour, DayOfModel } from './status.rules.js';

/** An hour is bad with at least this many calls and more than this share of failures. */
const LEAST_CALLS = 20;
const FAILED_PART = 0.05;

/**
 * Failures of the model itself. Refused calls and calls that clients left early don't count, although they are errors
 * in usage and on the leaderboard.
 */
const failures = sql`(errors - caller_errors)`;

interface DayRow extends Omit<DayOfModel, 'latency'> {
  buckets: number[] | null;
  counts: number[] | null;
}

/**
 * Models by UTC day, from `from` until before `until`. Reads every sketch of the period, so request a few weeks at a
 * time.
 */
export async function daysOfModels(
  em: EntityManager,
  { from, until, withheld }: CountedHours & { until: Date },
): Promise<DayOfModel[]> {
  const within = sql`hour >= ${from.toISOString()} and hour < ${until.toISOString()}
    and ${isCounted('model_hours', withheld)}`;
  const { rows } = await sql<DayRow>`
    with totals as (
      select model, (hour at time zone 'UTC')::date as day, sum(successes)::float8 as successes,
        sum(${failures})::float8 as errors
      from model_hours where ${within} group by 1, 2
    ), sketches as (
      select model, day, array_agg(bucket::integer) as buckets, array_agg(n) as counts
      from (
        select model, day, bucket, sum(n) as n
        from (select model, (hour at time zone 'UTC')::date as day, ${pointsOf()} from model_hours where ${within}) points
        group by 1, 2, 3) merged
      group by 1, 2
    )
    select model, day::text as day, successes, errors, buckets, counts
    from totals left join sketches using (model, day)
    where successes + errors > 0`.execute(em.getKysely());
  return rows.map(({ buckets, counts, ...day }) => ({
    ...day,
    latency: (buckets ?? []).map((bucket, at) => ({ bucket, count: counts![at]! })),
  }));
}

/**
 * Hours since `from` in which too many calls of a model failed. Leaves out hours in which fewer than `leastAccounts`
 * accounts called the model.
 */
export async function degradedHours(
  em: EntityManager,
  from: Date,
  leastAccounts: number,
): Promise<BadHour[]> {
  const { rows } = await sql<BadHour>`
    select model, (extract(epoch from hour) * 1000)::float8 as hour_ms, (successes + ${failures})::float8 as requests,
      ${failures}::float8 as errors
    from model_hours h
    where hour >= ${from.toISOString()} and successes + ${failures} >= ${LEAST_CALLS}
      and ${failures} > (successes + ${failures}) * ${FAILED_PART}::float8
      and (select count(*) from model_account_hours a where a.hour = h.hour and a.model = h.model) >= ${leastAccounts}
    `.execute(em.getKysely());
  return rows;
}

/** The last hour with calls of each model. */
export async function lastCalls(
  em: EntityManager,
  { from, withheld }: CountedHours,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ model: string; hour_ms: number }>`
    select model, (extract(epoch from max(hour)) * 1000)::float8 as hour_ms from model_hours
    where hour >= ${from.toISOString()} and successes + ${failures} > 0 and ${isCounted('model_hours', withheld)}
    group by 1`.execute(em.getKysely());
  return new Map(rows.map(({ model, hour_ms }) => [model, hour_ms]));
}

/**
 * The first hour with calls after the last rolled-up one, in milliseconds; undefined without one. Earlier waiting
 * hours have been rolled up once: a few late calls don't make the figures outdated.
 */
export async function waitingSince(em: EntityManager): Promise<number | undefined> {
  const { rows } = await sql<{ hour_ms: number | null }>`
    select (extract(epoch from min(hour)) * 1000)::float8 as hour_ms from rollup_dirty
    where hour > coalesce((select max(hour) from model_hours), '-infinity')`.execute(em.getKysely());
  return rows[0]?.hour_ms ?? undefined;
}
