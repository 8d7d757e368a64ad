import pg from 'pg';
import { pgPool } from '../../../src/db/connection.js';
import { openOrm } from '../../../src/db/orm.js';
import type { TestDatabase } from '../../support/database.js';
import { startTestPlatform } from '../../support/platform.js';
import { WHO, type Who } from './accounts.js';
import { operations } from './operations.js';
import { type Cost, StatementLog } from './statements.js';
import { openSubject, type Subject } from './subjects.js';

/** What an operation cost the database. */
export interface Measured {
  name: string;
  as: Who;
  statements: Cost[];
  /** Why it failed, for example at the time limit of statements. */
  fault?: string;
}

/** Runs every operation as everybody who may, or those that are chosen, over a platform in this process. */
export async function measureScreens(
  url: string,
  chosen: (name: string, as: Who) => boolean = () => true,
): Promise<Measured[]> {
  const orm = openOrm({ databaseUrl: url, processName: 'bench', poolSize: 8 });
  const log = new StatementLog(await pgPool(orm));
  // Without the time limits of the product's connections.
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // Leaderboard, status and economics are kept for a while: each is measured as whoever asks first.
  const platform = await startTestPlatform({ url, orm } as TestDatabase);
  try {
    const subjects = new Map<Who, Subject>();
    for (const who of WHO) subjects.set(who, await openSubject(platform.url, pool, who));
    const measured: Measured[] = [];
    for (const { name, as, run } of operations(subjects.get('biggest')!)) {
      for (const who of as.filter((one) => chosen(name, one))) {
        let fault: string | undefined;
        const statements = await log.during(async () => {
          await run(platform.url, subjects.get(who)!).catch((error: Error) => {
            fault = error.message;
          });
        });
        measured.push({ name, as: who, statements, ...(fault !== undefined && { fault }) });
      }
    }
    return measured;
  } finally {
    await platform.close();
    await Promise.all([pool.end(), orm.close(true)]);
  }
}
