import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { HOUR_MS } from '../../lib/clock.js';

/**
 * Hours from `from` until before `until` whose roll-ups aren't current: they are read from the events.
 *
 * They are read before the statements that need them, so that those name the hours and PostgreSQL plans only their
 * partitions. That is right without a common snapshot, too: events are complete at any time, and an hour that is
 * listed later has its roll-up as it was.
 */
export async function readDirtyHours(
  em: EntityManager,
  { from, until }: { from: Date; until?: Date | undefined },
): Promise<Date[]> {
  const { rows } = await sql<{ hour_ms: number }>`
    select distinct (extract(epoch from hour) * 1000)::float8 as hour_ms from rollup_dirty
    where hour >= ${from.toISOString()} ${until ? sql`and hour < ${until.toISOString()}` : sql``}`.execute(
    em.getKysely(),
  );
  return rows.map(({ hour_ms: hour }) => new Date(hour));
}

const iso = (times: readonly Date[]): string[] => times.map((time) => time.toISOString());

/** Condition on the hour of a roll-up: it is current. */
export const isCurrent = (dirty: readonly Date[]): RawBuilder<boolean> =>
  dirty.length === 0 ? sql<boolean>`true` : sql<boolean>`hour <> all(${iso(dirty)}::timestamptz[])`;

/** The hours as a table `dirty (hour)`. */
export const dirtyTable = (dirty: readonly Date[]): RawBuilder<unknown> =>
  sql`unnest(${iso(dirty)}::timestamptz[]) as dirty (hour)`;

/** Condition on `created_at` of events: in the hour. */
export const inHour = (hour: Date): RawBuilder<boolean> =>
  sql<boolean>`created_at >= ${hour.toISOString()} and created_at < ${new Date(hour.getTime() + HOUR_MS).toISOString()}`;

/** Condition on `created_at` of events: in the hour of `dirty`. The fixed bounds choose the partitions. */
export function inDirtyHour(dirty: readonly Date[]): RawBuilder<boolean> {
  const times = dirty.map((hour) => hour.getTime());
  const first = new Date(Math.min(...times)).toISOString();
  const end = new Date(Math.max(...times) + HOUR_MS).toISOString();
  return sql<boolean>`created_at >= ${first} and created_at < ${end}
    and created_at >= dirty.hour and created_at < dirty.hour + interval '1 hour'`;
}
