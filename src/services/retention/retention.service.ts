import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceContext } from '../../context.js';
import { limitStatements } from '../../db/in-transaction.js';
import { patiently } from '../../db/patience.js';
import { monthsBefore } from '../../lib/clock.js';
import { postDueCharges } from '../billing/charge-posting.js';
import { partitionsOf } from '../partitions/partitions.store.js';
import { NotNow } from '../partitions/usage-lock.store.js';
import { type Removal, removals } from './retention.rules.js';
import { oldestRollupDay, removeRollups } from './rollup-retention.store.js';
import {
  dropFormerUsage,
  hasTable,
  hasUsageBefore,
  removeUsage,
  USAGE_TABLES,
  usageKeptFrom,
} from './usage-retention.store.js';

/** A month has millions of rows in the counts of lists. */
const TIMEOUT_MS = 60_000;

export interface RemovedUsage {
  /** The dropped table; null for events of the default partition. */
  table: string | null;
  events: number;
}

/**
 * Deletes usage events older than `months` months, partition by partition, each in its own transaction. A partition
 * that can't be deleted yet stays until the next run, with all newer ones. Many processes may run it at once.
 */
export async function removeOldUsage(
  context: ServiceContext,
  { months }: { months: number },
): Promise<RemovedUsage[]> {
  const { em, clock, log } = context;
  const removed: RemovedUsage[] = [];
  let at: Partial<Removal> = {};
  try {
    for (const parent of USAGE_TABLES) {
      if (!(await hasTable(em, parent))) continue;
      for (const removal of removals(clock.now(), months, await partitionsOf(em, parent))) {
        at = removal;
        const { table, until } = removal;
        if (table === null && !(await hasUsageBefore(em, parent, until))) continue;
        await postDueCharges(context);
        const events = await inTransaction(context, (inner) => removeUsage(inner, parent, removal));
        if (events !== undefined) removed.push({ table, events });
      }
      if (parent === 'former_usage_events') await inTransaction(context, dropFormerUsage);
    }
  } catch (error) {
    if (!(error instanceof NotNow)) throw error;
    log.warn({ ...at, reason: error.message }, 'old usage is kept until the next run');
  }
  return removed;
}

/**
 * Deletes roll-ups older than `months` months, day by day, but none whose events still exist.
 * @returns the number of deleted rows.
 */
export async function removeOldRollups(
  context: ServiceContext,
  { months }: { months: number },
): Promise<number> {
  const keptFrom = await usageKeptFrom(context.em);
  if (keptFrom === null) return 0;
  const before = Math.min(monthsBefore(context.clock.now(), months).getTime(), keptFrom.getTime());
  for (let removed = 0; ; ) {
    const day = await oldestRollupDay(context.em);
    if (day === null || day.getTime() >= before) return removed;
    const rows = await inTransaction(context, (inner) => removeRollups(inner, day));
    if (rows === undefined) return removed;
    removed += rows;
  }
}

function inTransaction<T>({ em }: ServiceContext, work: (em: EntityManager) => Promise<T>): Promise<T> {
  return patiently(TIMEOUT_MS, () =>
    em.fork().transactional(async (inner) => {
      await limitStatements(inner, TIMEOUT_MS);
      return work(inner);
    }),
  );
}
