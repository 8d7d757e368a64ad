import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { HOUR_MS } from '../../lib/clock.js';
import { keptFrom } from '../retention/kept-from.store.js';
import type { UsageSelection } from './usage-filter.rules.js';

/** From newer to older events, or the other way. */
export type Direction = 'older' | 'newer';

interface HoursQuery {
  accountId: string;
  selection: UsageSelection;
  direction: Direction;
  /** The first hour, in milliseconds. */
  start?: number | undefined;
  limit: number;
}

/** An hour that may have events of a selection. */
export interface MatchingHour {
  /** Its start, in milliseconds. */
  ms: number;
  /** Number of these events, 0 if it isn't known. */
  matches: number;
}

const isNarrowed = ({ keyId, model, status }: UsageSelection): boolean =>
  keyId !== undefined || model !== undefined || status !== undefined;

/** The `limit` hours of an account that come first in a direction and may have events of a selection. */
export async function matchingHours(em: EntityManager, query: HoursQuery): Promise<MatchingHour[]> {
  const { direction, limit } = query;
  const first = sql`order by hour ${direction === 'older' ? sql`desc` : sql``} limit ${limit}`;
  const hours = isNarrowed(query.selection) ? fromRollUps(query, first) : fromCounts(query, first);
  const { rows } = await sql<MatchingHour>`
    select (extract(epoch from hour) * 1000)::float8 as ms, matches::float8 from (${hours}) hours ${first}`.execute(
    em.getKysely(),
  );
  return rows;
}

const within = ({ selection: { from, until }, direction, start }: HoursQuery): RawBuilder<unknown> => {
  const bounds = [
    ...(from ? [sql`hour >= ${from.toISOString()}`] : []),
    ...(until ? [sql`hour < ${until.toISOString()}`] : []),
  ];
  if (start !== undefined) {
    const hour = new Date(start).toISOString();
    bounds.push(direction === 'older' ? sql`hour <= ${hour}` : sql`hour >= ${hour}`);
  }
  return bounds.length === 0 ? sql`true` : sql.join(bounds, sql` and `);
};

const fromCounts = (query: HoursQuery, first: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select hour, events as matches from account_usage_hours
  where account_id = ${query.accountId} and ${within(query)} ${first}`;

const MATCHES = { success: sql`requests - errors`, error: sql`errors` } as const;

/** From roll-ups, and each hour whose roll-up isn't current. */
function fromRollUps(query: HoursQuery, first: RawBuilder<unknown>): RawBuilder<unknown> {
  const { keyId, model, status } = query.selection;
  const matches = status === undefined ? sql`requests` : MATCHES[status];
  return sql`
    with dirty as materialized (select distinct hour from rollup_dirty where ${within(query)})
    (select hour, sum(${matches}) as matches from usage_rollups
      where account_id = ${query.accountId} and ${within(query)} and ${matches} > 0
        ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`}
        ${model === undefined ? sql`` : sql`and model = ${model}`}
        and hour not in (select hour from dirty) and hour >= ${keptFrom}
      group by hour ${first})
    union all
    select hour, 0 from account_usage_hours
    where account_id = ${query.accountId} and hour in (select hour from dirty)`;
}

/**
 * The first hours of a list that have `wanted` events, as far as that is known. How many events of the hour `partly` are
 * wanted isn't.
 */
export function hoursWith(
  hours: readonly MatchingHour[],
  wanted: number,
  partly: number | undefined,
): readonly MatchingHour[] {
  let found = 0;
  const last = hours.findIndex(({ ms, matches }) => {
    if (ms !== partly) found += matches;
    return found >= wanted;
  });
  return last < 0 ? hours : hours.slice(0, last + 1);
}

/** A period in milliseconds, without its end. */
interface Span {
  from: number;
  until: number;
}

/** Hours as few periods. */
export function spansOf(hours: readonly MatchingHour[]): Span[] {
  const spans: Span[] = [];
  for (const { ms } of [...hours].sort((a, b) => a.ms - b.ms)) {
    const last = spans.at(-1);
    if (last?.until === ms) last.until += HOUR_MS;
    else spans.push({ from: ms, until: ms + HOUR_MS });
  }
  return spans;
}
