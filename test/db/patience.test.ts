import { setImmediate as turn } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { askWithin } from '../../src/db/bounded.js';
import { pgPool } from '../../src/db/connection.js';
import { openOrm } from '../../src/db/orm.js';
import { patiently } from '../../src/db/patience.js';
import { isDatabaseOutage } from '../../src/lib/database-outage.js';
import { onBusyMachine } from '../support/busy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { standStill } from '../support/stand-still.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** A query without a response is given up half a second after this. */
const ALLOWED_MS = 100;
/** Shorter than the default of a statement. */
const GIVEN_UP_MS = 4_000;
/** A timeout that the work asks for; far above what it needs. */
const PATIENT_MS = 5_000;
const POOL_SIZE = 3;

test('a connection makes the server end a transaction that is idle too long', async () => {
  const db = await createTestDatabase();
  const { rows } = await sql<{ wait: string }>`
    select current_setting('idle_in_transaction_session_timeout') as wait`.execute(
    db.orm.em.fork().getKysely(),
  );
  expect(rows).toEqual([{ wait: '30s' }]);
  await db.close();
});

test('a response that arrives while the process is frozen counts', async () => {
  const db = await createTestDatabase();
  const client = await (await pgPool(db.orm)).connect();
  // Timers run next, and then the arrived responses.
  await turn();
  const asked = askWithin<{ one: number }>(client, 'select 1 as one', ALLOWED_MS);
  standStill(10 * ALLOWED_MS);
  expect((await asked).rows).toEqual([{ one: 1 }]);
  client.release();
  await db.close();
});

describe('a database that accepts queries and never responds', () => {
  let db: TestDatabase;
  let link: TcpProxy;
  let orm: MikroORM;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(async () => {
    link = await createTcpProxy(Number(new URL(db.url).port));
    orm = openOrm({ databaseUrl: link.urlOf(db.url), processName: 'test', poolSize: POOL_SIZE });
  });
  afterEach(async () => {
    link.restore();
    await orm.close(true);
    await link.close();
  });
  /** Resolves once transactions hold all connections of the pool. */
  const allBegun = () => until(async () => (await pgPool(orm)).totalCount === POOL_SIZE, { intervalMs: 2 });
  const one = (em = orm.em.fork()) => sql`select 1`.execute(em.getKysely());

  test('a query is given up once, without waiting for the rollback of its transaction, too', async () => {
    let frozenAt = 0;
    const failure = await orm.em
      .fork()
      .transactional(async (em) => {
        await one(em as typeof orm.em);
        link.freeze();
        frozenAt = performance.now();
        // A rollback would wait as long as any other statement.
        await patiently(ALLOWED_MS, () => one(em as typeof orm.em));
      })
      .catch((error: unknown) => error);
    expect(isDatabaseOutage(failure)).toBe(true);
    expect(performance.now() - frozenAt).toBeLessThan(onBusyMachine(GIVEN_UP_MS));
  });

  test('the next query uses a new connection once the database responds again', async () => {
    await one();
    link.freeze();
    await expect(patiently(ALLOWED_MS, () => one())).rejects.toThrow();
    link.restore();
    expect((await one()).rows).toHaveLength(1);
  });

  test("interrupted transactions, and those that can't begin, cost the pool no connection", async () => {
    // All connections at once, because a later wait may find some lost again.
    let begun: Promise<unknown> | undefined;
    const broken = Array.from({ length: POOL_SIZE }, () =>
      orm.em.fork().transactional(async (em) => {
        await one(em as typeof orm.em);
        begun ??= allBegun();
        await begun;
        link.reset();
        await one(em as typeof orm.em);
      }),
    );
    expect((await Promise.allSettled(broken)).map(({ status }) => status)).not.toContain('fulfilled');
    await one();
    link.freeze();
    const unbegun = patiently(ALLOWED_MS, () => orm.em.fork().transactional(async () => undefined));
    await expect(unbegun).rejects.toThrow();
    link.restore();
    expect(await Promise.all(Array.from({ length: 2 * POOL_SIZE }, () => one()))).toHaveLength(2 * POOL_SIZE);
    expect((await pgPool(orm)).totalCount).toBeLessThanOrEqual(POOL_SIZE);
  });

  test('work that asks for more time gets it', async () => {
    const db = orm.em.fork().getKysely();
    const slowly = sql`select pg_sleep(0.8)`;
    await Promise.all([
      patiently(PATIENT_MS, () => slowly.execute(db)),
      expect(patiently(ALLOWED_MS, () => slowly.execute(db))).rejects.toThrow(),
    ]);
  });
});
