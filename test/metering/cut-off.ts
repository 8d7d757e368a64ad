import pg from 'pg';
import { guardConnection } from '../../src/db/patience.js';
import { DOLLAR } from '../../src/lib/money.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createPayer, type Payer, temporaryFolder } from './support.js';

/** A meter's surroundings, with a database that can be cut off. */
interface CutOff {
  db: TestDatabase;
  /** Between the pool and the database. */
  link: TcpProxy;
  pool: pg.Pool;
  /** Has a dollar. */
  payer: Payer;
  /** Folder of the spool. */
  folder: ReturnType<typeof temporaryFolder>;
}

interface CutOffOptions {
  /** Maximum connections of the pool. */
  max?: number;
  onConnect?: (client: pg.PoolClient) => void;
  /** Runs when the link works again and the pool is still open. */
  stop?: () => Promise<void>;
}

/** Creates them for each test of a `describe`. The database is shared, and its books are checked after each test. */
export function useCutOff({ max = 2, onConnect, stop }: CutOffOptions = {}): CutOff {
  const made = {} as CutOff;
  beforeAll(async () => {
    made.db = await createTestDatabase();
    made.link = await createTcpProxy(Number(new URL(made.db.url).port));
  });
  afterAll(async () => {
    await made.link.close();
    await made.db.close();
  });
  beforeEach(async () => {
    made.folder = temporaryFolder();
    made.payer = await createPayer(made.db.pool, DOLLAR);
    made.pool = new pg.Pool({ connectionString: made.link.urlOf(made.db.url), max });
    made.pool.on('error', () => undefined);
    // As in every pool of the product, a connection may end while it is in use.
    made.pool.on('connect', guardConnection);
    if (onConnect) made.pool.on('connect', onConnect);
  });
  afterEach(async () => {
    made.link.restore();
    await stop?.();
    await made.pool.end();
    made.folder.remove();
    expect(await checkInvariants(made.db.pool)).toEqual([]);
  });
  return made;
}
