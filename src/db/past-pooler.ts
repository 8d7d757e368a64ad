import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { openOrm } from './orm.js';
import { type Addresses, isPooled } from './pooled.js';

/** One connection for a transaction, one for statements under its lock. */
const POOL_SIZE = 2;

/**
 * Runs work that needs a session, or rights that a pooler's user lacks, on connections past the pooler, and closes them
 * afterwards. Without a pooler, the work gets `orm` itself.
 */
export async function pastPooler<T>(
  orm: MikroORM,
  config: Addresses & Pick<Config, 'role'>,
  work: (orm: MikroORM) => Promise<T>,
): Promise<T> {
  if (!isPooled(config)) return work(orm);
  const direct = openOrm({
    databaseUrl: config.databaseDirectUrl!,
    processName: `${config.role}-migrations`,
    poolSize: POOL_SIZE,
  });
  try {
    return await work(direct);
  } finally {
    await direct.close(true);
  }
}
