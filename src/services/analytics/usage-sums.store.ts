import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { keptFrom } from '../retention/kept-from.store.js';
import { countedParts, type Scope, utcDayOfHour } from './analytics.store.js';

export interface UsageSum {
  calls: number;
  /** Dollars. */
  cost: string;
}

/**
 * Number and cost of the calls in a window of the usage list. Read from the roll-ups, so that it costs the same for
 * any number of calls. Errors cost nothing.
 */
export async function sumUsage(
  em: EntityManager,
  scope: Scope,
  { model, status }: { model?: string | undefined; status?: 'success' | 'error' | undefined },
): Promise<UsageSum> {
  const calls =
    status === undefined ? sql`requests` : status === 'error' ? sql`errors` : sql`requests - errors`;
  const { rows } = await sql<UsageSum>`
    with ${countedParts(scope)}
    select coalesce(sum(${calls}), 0)::float8 as calls,
      coalesce(sum(cost) filter (where ${status ?? ''} <> 'error'), 0)::text as cost
    from parts where hour >= ${keptFrom} ${model === undefined ? sql`` : sql`and model = ${model}`}`.execute(
    em.getKysely(),
  );
  return rows[0]!;
}

export interface DaySum extends UsageSum {
  /** UTC, `YYYY-MM-DD`. */
  day: string;
}

/** Successful calls and their cost per UTC day with a cost, newest first. */
export async function chargesPerDay(em: EntityManager, scope: Scope): Promise<DaySum[]> {
  const { rows } = await sql<DaySum>`
    with ${countedParts(scope)}
    select (${utcDayOfHour} at time zone 'UTC')::date::text as day, sum(requests - errors)::float8 as calls, sum(cost)::text as cost
    from parts group by ${utcDayOfHour} having sum(cost) > 0 order by 1 desc`.execute(em.getKysely());
  return rows;
}

/** Counts of one model in an hour. */
export interface HourAndModel {
  /** Begin of the hour, in milliseconds. */
  hour_ms: number;
  model: string;
  requests: number;
  errors: number;
  input_tokens: number;
  output_tokens: number;
  /** Dollars. */
  cost: string;
}

/** Calls per hour and model, oldest first. */
export async function countByHourAndModel(em: EntityManager, scope: Scope): Promise<HourAndModel[]> {
  const { rows } = await sql<HourAndModel>`
    with ${countedParts(scope)}
    select (extract(epoch from hour) * 1000)::float8 as hour_ms, model, sum(requests)::float8 as requests,
      sum(errors)::float8 as errors, sum(input_tokens)::float8 as input_tokens,
      sum(output_tokens)::float8 as output_tokens, sum(cost)::text as cost
    from parts group by 1, 2 order by 1, 2`.execute(em.getKysely());
  return rows;
}
