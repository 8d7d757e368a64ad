import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOrm } from '../../src/db/orm.js';
import { waitForDatabase } from '../../src/db/wait.js';
import { createLogger } from '../../src/lib/logger.js';
import { call, PASSWORD, type SessionAnswer, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { describeWithPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.js';
import { freePorts } from '../support/product-edges.js';
import { type ProductProcess, productProcess } from '../support/product-process.js';
import { TEST_SECRETS } from '../support/secrets.js';

/** Settings that an operator may have given a database. */
const ODD = {
  datestyle: 'SQL, DMY',
  timezone: 'Asia/Kolkata',
  extra_float_digits: '0',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
};

const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1);

async function setOdd(db: TestDatabase): Promise<void> {
  for (const [name, value] of Object.entries(ODD)) {
    await db.pool.query(`alter database ${nameOf(db)} set ${name} = '${value}'`);
  }
}

describe('a database with unusual settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-settings-'));
  let db: TestDatabase;
  let processes: ProductProcess[] = [];
  let url: string;
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await setOdd(db);
    const [port, platformPort] = await freePorts(2);
    url = `http://127.0.0.1:${port}`;
    const env = {
      ...INHERITED_ENV,
      NODE_ENV: 'development',
      LOG_LEVEL: 'warn',
      // Options of the operator stay.
      DATABASE_URL: `${db.url}?options=-c%20work_mem%3D7MB`,
      DATA_DIR: folder,
      PORT: String(port),
      PUBLIC_BASE_URL: url,
      PLATFORM_PORT: String(platformPort),
      PLATFORM_URL: `http://127.0.0.1:${platformPort}`,
      PASSWORD_HASH_PROFILE: 'test',
      ...TEST_SECRETS,
    };
    processes = (['platform', 'jobs', 'gateway'] as const).map((name) => productProcess(name, env));
    // Both migrate at once.
    await Promise.all(processes.map((one) => one.start()));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.running() && one.end('SIGKILL')));
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('starts, and serves log-ins, keys and calls', async () => {
    const { token, user } = await signUp(url);
    const login = await call<SessionAnswer>(url, 'POST', '/api/auth/login', {
      body: { email: user.email, password: PASSWORD },
    });
    expect(login.status).toBe(200);
    const made = await call<{ key: string; api_key: { created_at: string } }>(url, 'POST', '/api/keys', {
      token,
      body: { name: 'first' },
    });
    const age = Date.now() - Date.parse(made.body.api_key.created_at);
    expect([made.status, Math.abs(age) < 60_000]).toEqual([201, true]);
    const answer = await call(url, 'POST', '/v1/chat/completions', {
      token: made.body.key,
      body: { model: 'gateway/fast', messages: [{ role: 'user', content: 'Hello' }] },
    });
    expect(answer.status).toBe(200);
  });
});

describe('sessions of this product', () => {
  test("have the settings that it relies on, and the options of the operator's address", async () => {
    const db = await createTestDatabase('template0');
    await setOdd(db);
    const orm = openOrm({ databaseUrl: `${db.url}?options=-c%20work_mem%3D7MB`, processName: 'test' });
    try {
      const names = [...Object.keys(ODD), 'work_mem'];
      const shown = names.map((name) => `current_setting('${name}') as ${name}`);
      expect(await orm.em.getConnection().execute(`select ${shown.join(', ')}`)).toEqual([
        {
          datestyle: expect.stringMatching(/^ISO/),
          timezone: 'UTC',
          extra_float_digits: '1',
          standard_conforming_strings: 'on',
          default_transaction_isolation: 'read committed',
          work_mem: '7MB',
        },
      ]);
    } finally {
      await orm.close(true);
      await db.close();
    }
  });
});

describeWithPgBouncer('a pooler in front of a database with unusual settings', () => {
  let db: TestDatabase;
  let pooler: TestPgBouncer;
  beforeAll(async () => {
    db = await createTestDatabase();
    await setOdd(db);
    pooler = await startPgBouncer(db.url, Number(new URL(db.url).port));
  });
  afterAll(async () => {
    await pooler?.close();
    await db.close();
  });

  const start = async (): Promise<void> => {
    const orm = openOrm({ databaseUrl: pooler.url, processName: 'test', pooled: true });
    try {
      await waitForDatabase(orm, createLogger('test', 'silent'));
    } finally {
      await orm.close(true);
    }
  };

  test('stops the start with the statements that correct them', async () => {
    const error = await start().then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    const remedy = /run (.*) and let the pooler reconnect$/.exec(error!.message)![1]!;
    await db.pool.query(remedy);
    await pooler.kill();
    await pooler.start();
    await expect(start()).resolves.toBeUndefined();
    await db.pool.query(`alter role current_user in database ${nameOf(db)} reset all`);
  });
});
