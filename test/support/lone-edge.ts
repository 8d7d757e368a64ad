import type { TestDatabase } from './database.js';
import { freePort } from './free-port.js';
import { INHERITED_ENV } from './inherited-env.js';
import { TEST_SECRETS } from './secrets.js';

/** The environment of an edge process with a database, but without platform and model proxy. */
export const loneEdgeEnv = async (db: TestDatabase, dataDir: string): Promise<Record<string, string>> => ({
  ...INHERITED_ENV,
  ...TEST_SECRETS,
  LOG_LEVEL: 'warn',
  DATABASE_URL: db.url,
  DATA_DIR: dataDir,
  PORT: String(await freePort()),
  PLATFORM_URL: 'http://127.0.0.1:9',
  UPSTREAM_URL: 'http://127.0.0.1:9',
});
