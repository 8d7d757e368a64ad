import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { migrate } from '../db/migrate.js';
import { seedCatalog } from '../db/seed.js';
import { systemClock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { ensurePartitions } from './partitions/partitions.store.js';

/** Brings the database up to date under one lock: migrations, plans and models, this month's partitions. */
export async function migrateAndSeed(orm: MikroORM, _config: Config, log: Logger): Promise<void> {
  const applied = await migrate(orm, async (em) => {
    await seedCatalog(em);
    await ensurePartitions(em, systemClock.now());
  });
  if (applied.length > 0) log.info({ applied }, 'migrations applied');
}
