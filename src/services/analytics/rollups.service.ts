import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { ServiceContext } from '../../context.js';
import { patiently } from '../../db/patience.js';
import { hourStart } from '../../lib/clock.js';
import { compactDirtyHours, lockRollups, recomputeHour, takeDirtyHour } from './rollups.store.js';

/** A busy hour has millions of events. */
const TIMEOUT_MS = 300_000;

/**
 * Rolls up every hour that is over and has events which aren't in its roll-up yet, the oldest first, each in a
 * transaction of its own. Many may run it at once: one works, the others return.
 * @returns how many hours this run rolled up.
 */
export async function rollUpUsage(context: ServiceContext): Promise<number> {
  const openHour = hourStart(context.clock.now());
  for (let hours = 0; ; hours++) {
    const rolled = await patiently(TIMEOUT_MS, () =>
      context.em.fork().transactional((em) => rollUpNext(em, openHour)),
    );
    if (!rolled) return hours;
  }
}

/** @returns whether there was an hour to roll up, and nobody else at it. */
async function rollUpNext(em: EntityManager, openHour: number): Promise<boolean> {
  await sql`select set_config('statement_timeout', ${String(TIMEOUT_MS)}, true)`.execute(em.getKysely());
  if (!(await lockRollups(em))) return false;
  const hour = await takeDirtyHour(em, openHour);
  if (hour) await recomputeHour(em, hour);
  else await compactDirtyHours(em, openHour);
  return hour !== undefined;
}
