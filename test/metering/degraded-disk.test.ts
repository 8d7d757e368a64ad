import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { fillableDisk } from './fillable-disk.js';
import { createPayer, finish, openMeter, type Payer, recordOf, temporaryFolder } from './support.js';

/** The test tells the disk when to refuse. `faults/spool-disk` has one that the kernel refuses. */
describe('a spool disk that fails while events go through the database', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let payer: Payer;

  beforeAll(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool);
  });
  afterAll(async () => {
    await db.close();
    folder.remove();
  });

  test.each(['EROFS', 'EIO', 'ENOSPC'])('is reported until it is writable again (%s)', async (code) => {
    const disk = Object.assign(fillableDisk(), { code });
    const { meter, registry } = await openMeter(folder.path, db.pool, { disk });
    const metric = async () =>
      (await registry.getSingleMetric('metering_spool_degraded')!.get()).values[0]!.value;
    expect([meter.degraded(), await metric()]).toEqual([false, 0]);
    disk.full = true;
    const record = recordOf(payer);
    await finish(meter, record);
    expect([meter.degraded(), meter.accepting(), await metric()]).toEqual([true, true, 1]);
    const { rowCount } = await db.pool.query('select from usage_events where id = $1', [record.id]);
    expect(rowCount).toBe(1);
    disk.full = false;
    await until(() => !meter.degraded());
    expect(await metric()).toBe(0);
    await meter.stop();
  });

  test('is reported as well if it writes and then fails to sync', async () => {
    const disk = fillableDisk();
    const { meter } = await openMeter(folder.path, db.pool, { disk });
    await until(() => disk.syncs > 0);
    disk.syncFails = 1_000_000;
    await finish(meter, recordOf(payer));
    await until(() => meter.degraded());
    expect(meter.accepting()).toBe(true);
    disk.syncFails = 0;
    await finish(meter, recordOf(payer));
    await until(() => !meter.degraded());
    await meter.stop();
  });
});
