import { withDatabase } from '../../src/cli/database.js';
import { openOrm } from '../../src/db/orm.js';
import { waitForDatabase } from '../../src/db/wait.js';
import { waitForSchema } from '../../src/db/wait-for-schema.js';
import { createLogger } from '../../src/lib/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { describeWithPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.js';

const REMEDY = /set DATABASE_DIRECT_URL/;

describeWithPgBouncer('an undeclared pooler in DATABASE_URL', () => {
  let db: TestDatabase;
  let pooler: TestPgBouncer;
  beforeAll(async () => {
    db = await createTestDatabase();
    pooler = await startPgBouncer(db.url, Number(new URL(db.url).port));
  });
  afterAll(async () => {
    await pooler?.close();
    await db.close();
  });

  test('every wait for the database reports it at once, with the remedy', async () => {
    const orm = openOrm({ databaseUrl: pooler.url, processName: 'test' });
    try {
      // Otherwise both would wait for a minute, longer than this test may take.
      await expect(waitForDatabase(orm, createLogger('test', 'silent'))).rejects.toThrow(REMEDY);
      await expect(waitForSchema(orm)).rejects.toThrow(REMEDY);
    } finally {
      await orm.close(true);
    }
  });

  test("the operators' commands report it", async () => {
    const config = { databaseDirectUrl: pooler.url, dataDir: 'unused' };
    const asking = withDatabase(config, 'test', (orm) => orm.em.execute('select 1'));
    await expect(asking).rejects.toThrow(REMEDY);
  });
});
