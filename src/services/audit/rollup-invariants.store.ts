import { CALLERS_FAULT } from '../leaderboard/callers-fault.rules.js';
import { KEPT_FROM } from '../retention/kept-from.store.js';
import type { Invariant } from './invariant.js';
import { dayOf, during, type TimeSlice, wholeDays } from './time-slice.rules.js';

/** An hourly table whose rows are sums of usage events. */
interface HourlySums {
  table: string;
  /** Columns that identify the sums of an hour, each with its column of the events. */
  by: Record<string, string>;
  subject: string;
  /** Condition on the summed events; all events without it. */
  only?: string;
}

/** Hours that aren't the sum of their events, except for those waiting to be rolled up. */
function differingHours({ table, by, subject, only = 'true' }: HourlySums, slice: TimeSlice): string {
  const columns = Object.keys(by).join(', ');
  // Both sides in one grouping, which treats two nulls as equal; a join doesn't.
  return `with dirty as materialized (select distinct hour from rollup_dirty)
      select ${subject} as subject
      from (
        select hour, ${columns}, requests, errors, input_tokens, output_tokens, cost,
          (select coalesce(sum(n), 0) from unnest(latency_counts) n) as latencies
        from ${table} where ${during('hour', slice)} and hour >= ${KEPT_FROM} and hour not in (select hour from dirty)
        union all
        select date_trunc('hour', created_at, 'UTC') as hour, ${Object.values(by).join(', ')}, -count(*),
          -count(*) filter (where status = 'error'), -sum(input_tokens), -sum(output_tokens), -sum(cost),
          -count(*) filter (where status = 'success')
        from usage_events
        where ${only} and ${during('created_at', slice)} and created_at >= ${KEPT_FROM}
          and date_trunc('hour', created_at, 'UTC') not in (select hour from dirty)
        group by hour, ${Object.values(by).join(', ')}) sides
      group by hour, ${columns}
      having (sum(requests), sum(errors), sum(input_tokens), sum(output_tokens), sum(cost), sum(latencies))
        is distinct from (0, 0, 0, 0, 0, 0)`;
}

/** A daily table of latencies, merged from an hourly one. */
interface DailyLatencies {
  table: string;
  hourly: string;
  by: readonly string[];
  subject: string;
  /** Whether days have a cost; null for days merged without it. */
  cost?: boolean;
}

/** Days whose latencies or cost differ from those of their hours, except for days waiting to be merged. */
function differingDays(
  { table, hourly, by, subject, cost = false }: DailyLatencies,
  slice: TimeSlice,
): string {
  const columns = by.join(', ');
  return `with open as materialized (
        select day from rollup_dirty_days union select (hour at time zone 'UTC')::date from rollup_dirty)
      select ${subject} as subject
      from (
        select day, ${columns}, (select sum(n) from unnest(latency_counts) n) as calls,
          ${cost ? 'cost, cost is null' : '0 as cost, false'} as unsummed
        from ${table} where ${dayOf('day', slice)} and day not in (select day from open)
        union all
        select (hour at time zone 'UTC')::date as day, ${columns},
          -sum((select coalesce(sum(n), 0) from unnest(latency_counts) n)), ${cost ? '-sum(cost)' : '0'}, false
        from ${hourly} where ${during('hour', wholeDays(slice))} and (hour at time zone 'UTC')::date not in (select day from open)
        group by day, ${columns}) sides
      group by day, ${columns}
      having sum(calls) is distinct from 0 or (sum(cost) <> 0 and not bool_or(unsummed))`;
}

/**
 * Public hours of models that aren't the sum of their events, except for those waiting to be rolled up. A call that
 * another model served counts as one more error of the requested model.
 */
const differingModelHours = (
  slice: TimeSlice,
): string => `with dirty as materialized (select distinct hour from rollup_dirty)
      select model as subject
      from (
        select hour, model, successes, errors, caller_errors, input_tokens, output_tokens, cost
        from model_hours where ${during('hour', slice)} and hour >= ${KEPT_FROM} and hour not in (select hour from dirty)
        union all
        select date_trunc('hour', created_at, 'UTC') as hour, served_model,
          -count(*) filter (where status = 'success' and not client_aborted
            and (endpoint = 'embeddings' or output_tokens > 0)),
          -count(*) filter (where status = 'error'),
          -count(*) filter (where status = 'error' and ${CALLERS_FAULT}),
          -sum(input_tokens), -sum(output_tokens), -sum(cost)
        from usage_events
        where ${during('created_at', slice)} and created_at >= ${KEPT_FROM}
          and date_trunc('hour', created_at, 'UTC') not in (select hour from dirty)
        group by 1, 2
        union all
        select date_trunc('hour', created_at, 'UTC') as hour, coalesce(moved_to, requested_model), 0, -count(*), 0, 0, 0, 0
        from usage_events
        where coalesce(moved_to, requested_model) <> served_model and status <> 'error' and ${during('created_at', slice)}
          and created_at >= ${KEPT_FROM}
          and date_trunc('hour', created_at, 'UTC') not in (select hour from dirty)
        group by 1, 2) sides
      group by hour, model
      having (sum(successes), sum(errors), sum(caller_errors), sum(input_tokens), sum(output_tokens), sum(cost))
        is distinct from (0, 0, 0, 0, 0, 0)`;

/** Of roll-ups: each is the sum of its source rows. */
export const rollupInvariants: readonly Invariant[] = [
  {
    name: 'I10-day',
    guarantee: "A key's spend on a UTC day is the sum of its events.",
    // Rolled-up hours are compared with their events by I10-rollup.
    times: (slice) => `with dirty as materialized (
        select distinct hour from rollup_dirty where ${during('hour', wholeDays(slice))})
      select coalesce(s.key_id, u.key_id) as subject
      from (select * from key_spend_days
          where ${dayOf('day', slice)} and day::timestamp at time zone 'UTC' >= ${KEPT_FROM}) s
        full join (
          select key_id, (at at time zone 'UTC')::date as day, sum(cost) as spend from (
            select key_id, hour as at, cost from usage_rollups
            where ${during('hour', wholeDays(slice))} and hour >= ${KEPT_FROM} and hour not in (select hour from dirty)
            union all
            select e.key_id, d.hour, e.cost from dirty d cross join lateral (
              select key_id, cost from usage_events
              where created_at >= d.hour and created_at < d.hour + interval '1 hour' and created_at >= ${KEPT_FROM}
              offset 0) e) spent
          where key_id is not null and cost > 0 group by 1, 2) u using (key_id, day)
      where coalesce(s.spend, 0) <> coalesce(u.spend, 0)`,
  },
  {
    name: 'I10-hour',
    guarantee: 'The hourly event counts of an account match its events.',
    times: (slice) => `
      select coalesce(h.account_id, u.account_id) as subject
      from (select * from account_usage_hours where ${during('hour', slice)} and hour >= ${KEPT_FROM}) h full join (
        select account_id, date_trunc('hour', created_at, 'UTC') as hour, count(*) as events
        from usage_events where ${during('created_at', slice)} and created_at >= ${KEPT_FROM} group by 1, 2) u
        using (account_id, hour)
      where coalesce(h.events, 0) <> coalesce(u.events, 0)`,
  },
  {
    name: 'I10-rollup',
    guarantee: 'Every rolled-up hour is the sum of its events.',
    times: (slice) =>
      differingHours(
        {
          table: 'usage_rollups',
          by: {
            account_id: 'account_id',
            key_id: 'key_id',
            widget_id: 'widget_id',
            model: 'served_model',
          },
          subject: 'account_id',
        },
        slice,
      ),
  },
  {
    name: 'I10-model',
    guarantee: 'Every rolled-up hour of a model, which public figures are made of, is the sum of its events.',
    times: differingModelHours,
  },
  {
    name: 'I10-version',
    guarantee: 'Every rolled-up hour of a prompt version is the sum of its events.',
    times: (slice) =>
      differingHours(
        {
          table: 'prompt_version_hours',
          by: {
            version_id: 'prompt_version_id',
            account_id: 'account_id',
            key_id: 'key_id',
            model: 'served_model',
          },
          subject: 'version_id',
          only: 'prompt_version_id is not null',
        },
        slice,
      ),
  },
  {
    name: 'I10-latency-day',
    guarantee: 'Latencies and cost of every merged day are those of its hours.',
    times: (slice) =>
      differingDays(
        {
          table: 'usage_latency_days',
          hourly: 'usage_rollups',
          by: ['account_id', 'key_id', 'widget_id'],
          subject: 'account_id',
          cost: true,
        },
        slice,
      ),
  },
  {
    name: 'I10-version-day',
    guarantee: 'The latencies of every merged day of a prompt version are those of its hours.',
    times: (slice) =>
      differingDays(
        {
          table: 'prompt_version_latency_days',
          hourly: 'prompt_version_hours',
          by: ['version_id', 'account_id'],
          subject: 'version_id',
        },
        slice,
      ),
  },
];
