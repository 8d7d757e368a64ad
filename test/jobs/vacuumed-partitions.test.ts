import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/db/embedded.js';
import { openOrm } from '../../src/db/orm.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { ensurePartitions, listPartitions } from '../../src/services/partitions/partitions.store.js';
import { removeOldUsage } from '../../src/services/retention/retention.service.js';
import { temporaryFolder } from '../launcher/support.js';
import { createPayer, recordOf } from '../metering/support.js';
import { underAutovacuum } from '../support/autovacuum.js';
import { putCluster } from '../support/cluster.js';
import { makeUsageInsertable } from '../support/insertable-usage.js';
import { until } from '../support/until.js';
import { jobContext } from './support.js';

const SEPTEMBER = Date.UTC(2030, 8, 15);
/** The first moment in which September is older than thirteen months. */
const DUE = Date.UTC(2031, 10, 1);

/** On a separate server, because the shared one has no autovacuum. */
describe('partitions of the usage events that are being vacuumed', () => {
  const folder = temporaryFolder();
  let server: EmbeddedPostgres;
  let orm: MikroORM;
  let pool: pg.Pool;

  beforeAll(async () => {
    const dataDir = join(folder.path, 'data');
    await putCluster(dataDir);
    server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
    orm = openOrm({ databaseUrl: server.url('gateway'), processName: 'test' });
    pool = new pg.Pool({ connectionString: server.url('gateway'), max: 4 });
    // The server may end a connection that is still closing.
    pool.on('error', () => undefined);
    await makeUsageInsertable(pool);
    await ensurePartitions(orm.em.fork(), SEPTEMBER);
  });
  afterAll(async () => {
    await pool.end();
    await orm.close(true);
    await server.stop();
    folder.remove();
  });

  test('new partitions are added beside them, and the autovacuum ends instead', async () => {
    await underAutovacuum(pool, { table: 'calls_default', createdAt: new Date(Date.UTC(2040, 0, 1)) });
    expect(await ensurePartitions(orm.em.fork(), Date.UTC(2035, 0, 1))).toEqual([
      'calls_2035_01',
      'calls_2035_02',
      'calls_2035_03',
    ]);
  });

  test('old ones are dropped, and calls are charged meanwhile', async () => {
    const payer = await createPayer(pool);
    await underAutovacuum(pool, { table: 'calls_2030_09', createdAt: new Date(SEPTEMBER) });
    const { context } = jobContext(orm, DUE);
    let isOver = false;
    const removing = removeOldUsage(context, { months: 13 }).finally(() => {
      isOver = true;
    });
    const waiting = `select from pg_locks where not granted and relation = 'calls_2030_09'::regclass`;
    // It waits for a second, which a frozen machine may miss.
    await until(async () => isOver || (await pool.query(waiting)).rowCount, { what: 'the removal to wait' });
    expect(await flushBatch(pool, [recordOf(payer, { createdAt: DUE })])).toMatchObject({ inserted: 1 });
    expect(await removing).toEqual([{ table: 'calls_2030_09', events: 0 }]);
    const left = await listPartitions(orm.em.fork());
    expect(left.map(({ table }) => table)).not.toContain('calls_2030_09');
  });
});
