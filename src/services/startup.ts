import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { migrate } from '../db/migrate.js';
import { buildPartitionIndexes } from '../db/partition-indexes.js';
import { pastPooler } from '../db/past-pooler.js';
import { seedCatalog } from '../db/seed.js';
import { systemClock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { seedAdmin } from './accounts/admin-seed.js';
import { createPasswords } from './accounts/passwords.js';
import { openPseudonymKey, PseudonymKeyError } from './accounts/pseudonym-key.store.js';
import { createPseudonyms, type Pseudonyms } from './accounts/pseudonyms.rules.js';
import { addPartitions } from './partitions/partitions.service.js';

/** sysexits' EX_CONFIG, as config.ts uses it. */
const EXIT_CONFIG = 78;
/** How long the start waits for indexes; on a large database they are built while it serves. */
const INDEX_PATIENCE_MS = 20_000;

/**
 * Preparations of platform and jobs before they serve: migrations, the pseudonym key, the seed (plans, models, the
 * administrator) and the next partitions of usage, under one lock and in one transaction. Idempotent; any number of
 * processes may run it at once. Indexes of large tables are built afterwards. All of it bypasses a pooler.
 * @returns the HMACs of email addresses and networks under the stored key.
 * @throws PseudonymKeyError
 */
export function migrateAndSeed(orm: MikroORM, config: Config, log: Logger): Promise<Pseudonyms> {
  return pastPooler(orm, config, (direct) => converge(direct, config, log));
}

async function converge(orm: MikroORM, config: Config, log: Logger): Promise<Pseudonyms> {
  let pseudonyms: Pseudonyms | undefined;
  const { migrations, functions } = await migrate(orm, async (em) => {
    pseudonyms = createPseudonyms(await openPseudonymKey(em, config));
    await seedCatalog(em);
    const passwords = createPasswords(config.passwordHashing);
    await seedAdmin(em, { config, clock: systemClock, log, passwords, pseudonyms });
    // Last, since writers of usage wait from here until the transaction ends.
    await addPartitions({ em, clock: systemClock, log }, config.usagePartitions);
  });
  if (migrations.length > 0) log.info({ applied: migrations }, 'migrations applied');
  if (functions.applied.length > 0) log.info({ applied: functions.applied }, 'functions applied');
  if (functions.newer.length > 0)
    log.warn({ newer: functions.newer }, 'functions installed by a later version were left unchanged');
  const building = buildPartitionIndexes(orm).catch((error: unknown) => {
    log.warn({ err: error }, 'an index could not be built; the next start will retry');
  });
  await Promise.race([building, delay(INDEX_PATIENCE_MS, undefined, { ref: false })]);
  return pseudonyms!;
}

/** The same; if the database was sealed with another ENCRYPTION_KEY, exits with one line on stderr. */
export async function migrateAndSeedOrExit(orm: MikroORM, config: Config, log: Logger): Promise<Pseudonyms> {
  try {
    return await migrateAndSeed(orm, config, log);
  } catch (error) {
    if (!(error instanceof PseudonymKeyError)) throw error;
    process.stderr.write(`configuration: ${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}
