import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { Config } from '../config.js';
import { migrate } from '../db/migrate.js';
import { isDatabaseOutage } from '../db/outage.js';
import { seedCatalog } from '../db/seed.js';
import { systemClock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { seedAdmin } from './accounts/admin-seed.js';

const DATABASE_WAIT_MS = 60_000;
const RETRY_MS = 500;

export interface StartupOptions {
  /** How long a database that isn't there yet is waited for, milliseconds. */
  waitMs?: number;
}

/**
 * What platform and jobs do first: waits for the database, migrates and seeds (plans, models, the administrator)
 * under one lock. Any number of processes may do it at once and again: it converges.
 * @throws Error when the database doesn't come, or a migration fails; nothing is left half done.
 */
export async function migrateAndSeed(
  orm: MikroORM,
  config: Config,
  log: Logger,
  { waitMs = DATABASE_WAIT_MS }: StartupOptions = {},
): Promise<void> {
  await waitForDatabase(orm, log, waitMs);
  const done = await migrate(orm, async (em) => {
    await seedCatalog(em);
    await seedAdmin(em, { config, clock: systemClock, log });
  });
  if (done.length > 0) log.info({ migrations: done }, 'database migrated');
}

async function waitForDatabase(orm: MikroORM, log: Logger, waitMs: number): Promise<void> {
  const end = performance.now() + waitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      await sql`select 1`.execute(orm.em.fork().getKysely());
      return;
    } catch (error) {
      if (!isDatabaseOutage(error) || performance.now() + RETRY_MS > end) throw error;
      if (attempt === 1) log.warn({ err: error }, 'the database is not there yet, trying again');
      await delay(RETRY_MS);
    }
  }
}
