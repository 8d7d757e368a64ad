import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { ServiceContext } from '../../context.js';
import { HOUR_MS } from '../../lib/clock.js';
import { type DirtyHours, type Period, withoutSlices } from './dirty-hours.store.js';
import { SLICE_MS, slicesOf } from './slices.store.js';

/** What is being read, by the entity manager of the request and by account. */
const reading = new WeakMap<EntityManager, Map<string, Promise<DirtyHours>>>();

/**
 * The dirty hours of an account. Queries of one request that need them at the same time share them. With the entity manager of
 * a transaction they are those of its snapshot: sums that are compared with a balance need that.
 */
export function dirtyHoursOf({ em }: Pick<ServiceContext, 'em'>, accountId: string): Promise<DirtyHours> {
  const own = reading.get(em) ?? new Map<string, Promise<DirtyHours>>();
  reading.set(em, own);
  const known = own.get(accountId);
  if (known) return known;
  const read = readDirtyHoursOf(em, accountId).finally(() => own.delete(accountId));
  own.set(accountId, read);
  return read;
}

async function readDirtyHoursOf(em: EntityManager, accountId: string): Promise<DirtyHours> {
  const { rows } = await sql<{ hour_ms: number; sliced: boolean }>`
    select (extract(epoch from hour) * 1000)::float8 as hour_ms, exists (
        select from usage_slices where account_id = ${accountId} and slice >= hour and slice < hour + interval '1 hour'
      ) as sliced
    from (select distinct hour from rollup_dirty) dirty`.execute(em.getKysely());
  const parts: DirtyHours[] = [];
  for (const { hour_ms: ms, sliced } of rows) {
    const hour = new Date(ms);
    const found = sliced ? await slicesOf(em, accountId, hour) : undefined;
    parts.push(
      found?.isComplete
        ? { hours: [hour], periods: periodsBetween(hour, found.slices), slices: found.slices }
        : withoutSlices([hour]),
    );
  }
  return {
    hours: parts.flatMap(({ hours }) => hours),
    periods: parts.flatMap(({ periods }) => periods),
    slices: parts.flatMap(({ slices }) => slices),
  };
}

/** The parts of an hour that no slice covers. */
function periodsBetween(hour: Date, slices: readonly Date[]): Period[] {
  const end = hour.getTime() + HOUR_MS;
  let since = hour.getTime();
  const periods: Period[] = [];
  for (const at of [...slices.map((slice) => slice.getTime()), end]) {
    if (at > since) periods.push({ hour, since: new Date(since), until: new Date(at) });
    since = at + SLICE_MS;
  }
  return periods;
}
