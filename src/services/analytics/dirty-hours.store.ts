import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { dayStart, HOUR_MS, hourStart } from '../../lib/clock.js';

/** Hours whose roll-ups aren't current, and what is read instead: slices of them, and calls. */
export interface DirtyHours {
  hours: readonly Date[];
  /** Periods whose calls are read. */
  periods: readonly Period[];
  /** The beginnings of slices whose roll-ups are read. Together with the periods they cover the hours. */
  slices: readonly Date[];
}

/** A part of an hour. */
export interface Period {
  hour: Date;
  since: Date;
  until: Date;
}

/**
 * Hours from `from` until before `until` whose roll-ups aren't current.
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

/** Hours whose calls are all read. */
export const withoutSlices = (hours: readonly Date[]): DirtyHours => ({
  hours,
  periods: hours.map((hour) => ({ hour, since: hour, until: new Date(hour.getTime() + HOUR_MS) })),
  slices: [],
});

/**
 * The dirty hours of a window. An hour in which the window ends is one of them, and its calls are read, since a roll-up has
 * calls after the end. Also when the window ends at the first instant of an hour: its day is incomplete then.
 */
export function dirtyWithin(dirty: DirtyHours, { from, until }: { from: Date; until?: Date }): DirtyHours {
  const end = until?.getTime() ?? Number.POSITIVE_INFINITY;
  const cut = until && end !== dayStart(end) ? new Date(hourStart(end)) : undefined;
  const isInside = (time: Date) => time >= from && time.getTime() < (cut?.getTime() ?? end);
  return {
    hours: [...dirty.hours.filter(isInside), ...(cut ? [cut] : [])],
    periods: [
      ...dirty.periods.filter(({ hour }) => isInside(hour)),
      ...(cut && until && cut < until ? [{ hour: cut, since: cut, until }] : []),
    ],
    slices: dirty.slices.filter(isInside),
  };
}

export const isoTimes = (times: readonly Date[]): string[] => times.map((time) => time.toISOString());

/** Condition on the hour of a roll-up: it is current. */
export const isCurrent = ({ hours }: DirtyHours): RawBuilder<boolean> =>
  hours.length === 0 ? sql<boolean>`true` : sql<boolean>`hour <> all(${isoTimes(hours)}::timestamptz[])`;

/** The UTC days of the hours, as a statement. */
export const daysOfDirty = ({ hours }: DirtyHours): RawBuilder<unknown> =>
  sql`select (hour at time zone 'UTC')::date from unnest(${isoTimes(hours)}::timestamptz[]) as dirty (hour)`;

/**
 * The rows of a statement about the calls of each period of `dirty (hour, since, until)`. There must be one. The statement gets
 * a condition on `created_at`: within the period. The fixed bounds in it choose the partitions.
 */
export function ofDirty(
  { periods }: DirtyHours,
  statement: (inPeriod: RawBuilder<boolean>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [hours, begins, ends] = (['hour', 'since', 'until'] as const).map((name) =>
    isoTimes(periods.map((period) => period[name])),
  );
  const first = new Date(Math.min(...periods.map(({ since }) => since.getTime()))).toISOString();
  const last = new Date(Math.max(...periods.map(({ until }) => until.getTime()))).toISOString();
  const inPeriod = sql<boolean>`created_at >= ${first} and created_at < ${last}
    and created_at >= dirty.since and created_at < dirty.until`;
  return sql`
    select raw.* from unnest(${hours}::timestamptz[], ${begins}::timestamptz[], ${ends}::timestamptz[])
        as dirty (hour, since, until)
      cross join lateral (${statement(inPeriod)}) raw`;
}

/** The same, added to another statement. */
export const unionOfDirty = (...[dirty, statement]: Parameters<typeof ofDirty>): RawBuilder<unknown> =>
  dirty.periods.length === 0 ? sql`` : sql`union all ${ofDirty(dirty, statement)}`;

/** Condition on `created_at` of events: in the hour. */
export const inHour = (hour: Date): RawBuilder<boolean> =>
  sql<boolean>`created_at >= ${hour.toISOString()} and created_at < ${new Date(hour.getTime() + HOUR_MS).toISOString()}`;
