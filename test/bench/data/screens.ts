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
}

/** Runs every operation as everybody who may, or those that are chosen, over a platform in this process. */
export async function measureScreens(
  url: string,
  chosen: (name: string, as: Who) => boolean = () => true,
): Promise<Measured[]> {
  const orm = openOrm({ databaseUrl: url, processName: 'bench', poolSize: 8 });
  const pool = await pgPool(orm);
  const log = new StatementLog(pool);
  // Leaderboard, status and economics are kept for a while: each is measured as whoever asks first.
  const platform = await startTestPlatform({ url, orm } as TestDatabase);
  try {
    const subjects = new Map<Who, Subject>();
    for (const who of WHO) subjects.set(who, await openSubject(platform.url, pool, who));
    const measured: Measured[] = [];
    const faults: string[] = [];
    for (const { name, as, run } of operations(subjects.get('biggest')!)) {
      for (const who of as.filter((one) => chosen(name, one))) {
        const statements = await log.during(async () => {
          await run(platform.url, subjects.get(who)!).catch((error: Error) => {
            faults.push(`${name} as ${who} ${error.message}`);
          });
        });
        measured.push({ name, as: who, statements });
      }
    }
    if (faults.length > 0) throw new Error(`operations failed:\n${faults.join('\n')}`);
    return measured;
  } finally {
    await platform.close();
    await orm.close(true);
  }
}
