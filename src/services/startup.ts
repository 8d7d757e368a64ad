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
/** The start waits so long for indexes; on a large database they are built while it serves. */
const INDEX_PATIENCE_MS = 20_000;

/**
 * What platform and jobs do before they serve: migrations, then the pseudonym key, the seed (plans, models, the
 * administrator) and the next partitions of usage, under one lock and in one transaction. Any number of processes may do it
 * at once and again: it converges. Indexes of large tables are built behind it. All of it goes past a pooler.
 * @returns the names of mails and networks under the stored key.
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
    // Last, since writers of usage wait from there until the transaction ends.
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

/** The same, and the end of the process with one line on stderr when the database is of another ENCRYPTION_KEY. */
export async function migrateAndSeedOrExit(orm: MikroORM, config: Config, log: Logger): Promise<Pseudonyms> {
  try {
    return await migrateAndSeed(orm, config, log);
  } catch (error) {
    if (!(error instanceof PseudonymKeyError)) throw error;
    process.stderr.write(`configuration: ${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}
