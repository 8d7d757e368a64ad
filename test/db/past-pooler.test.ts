import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { freePorts } from '../support/product-edges.js';
import { type ProductProcess, productProcess } from '../support/product-process.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';

/** Two users of one server show which address opened a connection or created a table. */
describe('with DATABASE_DIRECT_URL', () => {
  const pooled = `pooled_${randomBytes(6).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pooler-'));
  let db: TestDatabase;
  let processes: ProductProcess[] = [];
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await db.pool.query(`create role ${pooled} superuser login`);
    const [port, platformPort] = await freePorts(2);
    const through = new URL(db.url);
    through.username = pooled;
    const env = {
      ...INHERITED_ENV,
      NODE_ENV: 'development',
      LOG_LEVEL: 'warn',
      DATABASE_URL: through.href,
      DATABASE_DIRECT_URL: db.url,
      DATA_DIR: folder,
      PORT: String(port),
      PLATFORM_PORT: String(platformPort),
      PLATFORM_URL: `http://127.0.0.1:${platformPort}`,
      ...TEST_SECRETS,
    };
    processes = (['platform', 'jobs', 'gateway'] as const).map((name) => productProcess(name, env));
    await Promise.all(processes.map((one) => one.start()));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.running() && one.end('SIGKILL')));
    await db.pool.query(`drop owned by ${pooled}`);
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('LISTEN and the lock of the one edge go past the pooler, and everything else through it', async () => {
    const seen = new Map<string, boolean>();
    const look = async () => {
      const { rows } = await db.pool.query<{ name: string; through: boolean }>(
        `select application_name as name, usename = $1 as through from pg_stat_activity
         where datname = current_database() and application_name like 'gateway-%' and application_name <> 'gateway-test'`,
        [pooled],
      );
      for (const { name, through } of rows) {
        expect(seen.get(name) ?? through).toBe(through);
        seen.set(name, through);
      }
      return rows.filter(({ name }) => name === 'gateway-listen').length;
    };
    await until(async () => (await look()) === 5 && seen.has('gateway-jobs-schedule'), {
      what: 'five listeners',
    });
    for (const name of ['gateway-listen', 'gateway-edge-lock'])
      expect([name, seen.get(name)]).toEqual([name, false]);
    for (const name of ['gateway-edge', 'gateway-platform', 'gateway-jobs', 'gateway-jobs-schedule']) {
      await until(async () => (await look()) > 0 && seen.has(name), { what: name });
      expect([name, seen.get(name)]).toEqual([name, true]);
    }
  });

  test("tables are created past the pooler, the scheduler's included", async () => {
    const { rows } = await db.pool.query<{ owner: string; tables: number }>(
      `select tableowner as owner, count(*)::int as tables from pg_tables where schemaname = 'public' group by 1`,
    );
    expect(rows).toEqual([{ owner: expect.not.stringMatching(pooled), tables: expect.any(Number) }]);
    const agenda = await db.pool.query(`select from pg_tables where tablename like 'agenda%'`);
    expect(agenda.rowCount).toBeGreaterThan(0);
  });
});
