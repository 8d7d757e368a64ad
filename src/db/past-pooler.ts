import type { MikroORM } from '@mikro-orm/postgresql';
import type { Config } from '../config.js';
import { openOrm } from './orm.js';
import { type Addresses, isPooled } from './pooled.js';

/** One for a transaction, one for what is made under its lock. */
const POOL_SIZE = 2;

/**
 * Runs work that belongs to a session, or that a pooler's user may not do, on connections past the pooler, which are closed
 * behind it. Without a pooler that is `orm` itself.
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
