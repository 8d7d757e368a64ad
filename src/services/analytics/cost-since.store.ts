import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { utcDay } from '../../lib/clock.js';
import type { Scope } from './analytics.store.js';
import { daysOfDirty, dirtyWithin, isCurrent, isoTimes, unionOfDirty } from './dirty-hours.store.js';

/**
 * The cost of an account's calls since the beginning of a UTC day, in dollars. Comes from merged days, which makes
 * years affordable; for days not merged yet from their hours, and for hours not rolled up yet from slices and events.
 */
export async function costSince(
  em: EntityManager,
  { accountId, from, dirty: all }: Pick<Scope, 'accountId' | 'from' | 'dirty'>,
): Promise<string> {
  const dirty = dirtyWithin(all, { from });
  const { rows } = await sql<{ cost: string }>`
    with merged as materialized (
      select day, sum(cost) as cost, bool_and(cost is not null) as summed from usage_latency_days
      where account_id = ${accountId} and day >= ${utcDay(from.getTime())} group by day
    ), open_days as materialized (
      select day from rollup_dirty_days where day >= ${utcDay(from.getTime())}
      union ${daysOfDirty(dirty)}
      union select day from merged where not summed
    )
    select coalesce(sum(cost), 0)::text as cost from (
      select cost from merged where day not in (select day from open_days)
      union all
      select rolled.cost from open_days cross join lateral (
        select sum(cost) as cost from usage_rollups where account_id = ${accountId}
          and hour >= open_days.day::timestamp at time zone 'UTC'
          and hour < (open_days.day + 1)::timestamp at time zone 'UTC'
          and ${isCurrent(dirty)}) rolled
      union all
      select sum(cost) from usage_slices
      where account_id = ${accountId} and slice = any(${isoTimes(dirty.slices)}::timestamptz[])
      ${unionOfDirty(
        dirty,
        (inPeriod) =>
          sql`select sum(cost) as cost from usage_events where account_id = ${accountId} and ${inPeriod}`,
      )}
    ) parts`.execute(em.getKysely());
  return rows[0]!.cost;
}
