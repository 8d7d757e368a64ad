import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { migrate } from '../db/migrate.js';
import { seedCatalog } from '../db/seed.js';
import { systemClock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { seedAdmin } from './accounts/admin-seed.js';
import { ensurePartitions } from './partitions/partitions.store.js';

/**
 * What platform and jobs do before they serve: migrations, then the seed (plans, models, the administrator) and this
 * month's partitions, under one lock and in one transaction. Any number of processes may do it at once and again:
 * it converges.
 */
export async function migrateAndSeed(orm: MikroORM, config: Config, log: Logger): Promise<void> {
  const applied = await migrate(orm, async (em) => {
    await seedCatalog(em);
    await ensurePartitions(em, systemClock.now());
    await seedAdmin(em, { config, clock: systemClock, log });
  });
  if (applied.length > 0) log.info({ applied }, 'migrations applied');
}
