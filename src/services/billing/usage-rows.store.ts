import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { HOUR_MS, hourStart } from '../../lib/clock.js';
import {
  type ConnectionPage,
  pageOfRows,
  pageOfRowsBefore,
  type TimeConnectionInput,
  type TimePosition,
  timeCursor,
} from '../../lib/connection-input.js';
import { isAfter, isBefore } from '../list-position.store.js';
import type { UsageItemOutput } from './billing.outputs.js';
import { toUsageItem, type UsageColumns, usageColumns } from './usage.store.js';
import type { UsageSelection } from './usage-filter.rules.js';
import { type Direction, hoursWith, type MatchingHour, matchingHours, spansOf } from './usage-hours.store.js';

interface RowsQuery {
  selection: UsageSelection;
  direction: Direction;
  /** Only events behind this one, in the direction. */
  at?: TimePosition | undefined;
  /** Maximum number of events of a page. */
  limit: number;
}

/** Hours looked up at first, and at most, before events are read. */
const FIRST_HOURS = 24;
const MOST_HOURS = 1_000;
/** Far behind any event; PostgreSQL doesn't read times with longer years. */
const LAST_MS = Date.UTC(9999, 11, 31);

const hourOf = ({ createdUs }: Pick<TimePosition, 'createdUs'>): number =>
  hourStart(Math.min(Number(createdUs) / 1000, LAST_MS));

/**
 * Events of an account in order, in pages; a page may be short, or empty. Only hours that have some of the selection
 * are read (docs/decisions/0210), along the index of the account, so a filter that matches little doesn't read what it
 * leaves out.
 */
export async function* usagePages(
  em: EntityManager,
  accountId: string,
  { selection, direction, limit, at: from }: RowsQuery,
): AsyncGenerator<UsageColumns[], void> {
  let at = from;
  let start = at && hourOf(at);
  let ended = false;
  for (let most = FIRST_HOURS; !ended; most = Math.min(4 * most, MOST_HOURS)) {
    let hours = await matchingHours(em, { accountId, selection, direction, start, limit: most });
    ended = hours.length < most;
    start = hours.length === 0 ? start : hours.at(-1)!.ms + (direction === 'older' ? -HOUR_MS : HOUR_MS);
    while (hours.length > 0) {
      const chosen = hoursWith(hours, limit, at && hourOf(at));
      const page = await rowsIn(em, accountId, chosen, { selection, direction, at, limit });
      const last = page.at(-1);
      if (last) at = { createdUs: last.created_us, id: last.id };
      yield page;
      const read = page.length < limit ? chosen.length : chosen.findIndex(({ ms }) => ms === hourOf(at!));
      hours = hours.slice(read);
    }
  }
}

async function rowsIn(
  em: EntityManager,
  accountId: string,
  hours: readonly MatchingHour[],
  { selection: { keyId, model, status }, direction, at, limit }: RowsQuery,
): Promise<UsageColumns[]> {
  const spans = spansOf(hours);
  const from = spans.map((span) => new Date(span.from).toISOString());
  const until = spans.map((span) => new Date(span.until).toISOString());
  const { rows } = await sql<UsageColumns>`
    select ${usageColumns}
    from unnest(${from}::timestamptz[], ${until}::timestamptz[]) as span (begins, ends) cross join lateral (
      select * from usage_events u
      where u.account_id = ${accountId} and u.created_at >= span.begins and u.created_at < span.ends
        and ${chosenPartitions(from[0]!, until.at(-1)!)}
        ${keyId === undefined ? sql`` : sql`and u.key_id = ${keyId}`}
        ${model === undefined ? sql`` : sql`and u.served_model = ${model}`}
        ${status === undefined ? sql`` : sql`and u.status = ${status}`}
        ${at ? sql`and ${direction === 'older' ? isAfter('u', at) : isBefore('u', at)}` : sql``}
      ${inOrder(direction)} limit ${limit}) u
    ${inOrder(direction)} limit ${limit}`.execute(em.getKysely());
  return rows;
}

/** Fixed bounds, so that other partitions aren't even planned. */
const chosenPartitions = (from: string, until: string): RawBuilder<boolean> =>
  sql<boolean>`u.created_at >= ${from} and u.created_at < ${until}`;

const inOrder = (direction: Direction): RawBuilder<unknown> =>
  direction === 'older' ? sql`order by u.created_at desc, u.id desc` : sql`order by u.created_at, u.id`;

/** A page by cursor, without the total: every page costs the same. */
export async function pageUsage(
  em: EntityManager,
  accountId: string,
  {
    first,
    after,
    before,
    selection,
  }: TimeConnectionInput & { before?: TimePosition | undefined; selection: UsageSelection },
): Promise<ConnectionPage<UsageItemOutput>> {
  const edgeOf = (row: UsageColumns) => ({
    cursor: timeCursor({ createdUs: row.created_us, id: row.id }),
    node: toUsageItem(row),
  });
  const direction = before ? 'newer' : 'older';
  const rows: UsageColumns[] = [];
  for await (const page of usagePages(em, accountId, {
    ...{ selection, direction, at: before ?? after, limit: first + 1 },
  })) {
    rows.push(...page);
    if (rows.length > first) break;
  }
  return (before ? pageOfRowsBefore : pageOfRows)(rows.slice(0, first + 1), first, edgeOf);
}
