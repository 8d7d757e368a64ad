import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../../src/lib/ids.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { countByDayAndModel, latencySketch } from '../../src/services/analytics/analytics.store.js';
import { costSince } from '../../src/services/analytics/cost-since.store.js';
import { dirtyHoursOf } from '../../src/services/analytics/dirty-hours-of-account.js';
import { findUsage, listUsage } from '../../src/services/billing/usage.store.js';
import { pageUsage } from '../../src/services/billing/usage-rows.store.js';
import { freshUsage, usageInstant } from '../../src/services/live/usage-feed.store.js';
import { countVersions } from '../../src/services/prompts/version-hours.store.js';
import { DAY_MS, HOUR_MS, rollUpAt } from '../analytics/support.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

/** In the middle of the first month of 2031. */
const NOW = Date.UTC(2031, 0, 15, 12);
const MONTHS = 8;
const month = (n: number): string => new Date(Date.UTC(2031, n - MONTHS + 2, 1)).toISOString();

describe('statements over usage of an account plan only partitions that they read', () => {
  let db: TestDatabase;
  let payer: Payer;
  const recent = newId();
  beforeAll(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool);
    for (let n = 0; n < MONTHS; n++) {
      await db.pool.query(
        `create table usage_month_${n} partition of calls for values from ('${month(n)}') to ('${month(n + 1)}')`,
      );
    }
    const at = (createdAt: number, changes = {}) => recordOf(payer, { createdAt, ...changes });
    const ages = [5 * 30 * DAY_MS, 90 * DAY_MS, 2 * HOUR_MS, HOUR_MS];
    await flushBatch(
      db.pool,
      ages.map((age) => at(NOW - age)),
    );
    await rollUpAt(db, NOW);
    await flushBatch(db.pool, [at(NOW, { id: recent })]);
  });
  afterAll(() => db.close());

  /** Planning locks a partition, and the transaction keeps the lock. */
  const partitionsOf = (statements: (em: EntityManager) => Promise<unknown>): Promise<string[]> =>
    db.orm.em.fork().transactional(async (em) => {
      await statements(em);
      const rows = await em.execute<{ name: string }[]>(
        `select relname as name from pg_locks join pg_class on pg_class.oid = relation
         where pid = pg_backend_pid() and relkind = 'r' and relispartition order by 1`,
      );
      return rows.map(({ name }) => name);
    });

  const page = { first: 1, selection: {} };
  const window = async (em: EntityManager) => ({
    dirty: await dirtyHoursOf({ em }, payer.accountId),
    accountId: payer.accountId,
    from: new Date(NOW - 89 * DAY_MS),
    until: new Date(NOW + DAY_MS / 2),
  });

  test.each<[string, (em: EntityManager) => Promise<unknown>]>([
    ['a page of the list', (em) => listUsage(em, payer.accountId, { limit: 1, offset: 0 })],
    ['a page by cursor', (em) => pageUsage(em, payer.accountId, page)],
    [
      'a page of one key',
      (em) => pageUsage(em, payer.accountId, { ...page, selection: { keyId: payer.keyId } }),
    ],
    ['a call by id and time', (em) => findUsage(em, payer.accountId, [{ id: recent, completedMs: NOW }])],
    ['counts of 90 days', async (em) => countByDayAndModel(em, await window(em))],
    ['latencies of 90 days', async (em) => latencySketch(em, await window(em))],
    ['cost of years', async (em) => costSince(em, { ...(await window(em)), from: new Date(0) })],
    [
      'counts of prompt versions',
      async (em) => countVersions(em, { ...(await window(em)), versionIds: [newId()] }),
    ],
    [
      'new events of a feed',
      async (em) => {
        const { snapshot } = await usageInstant(em, payer.accountId, NOW - DAY_MS);
        await freshUsage(em, {
          ...{ accountId: payer.accountId, boundaryMs: NOW - DAY_MS, seen: snapshot, limit: 10 },
          ...{ fromMs: NOW - 2_000, untilMs: NOW + HOUR_MS },
        });
      },
    ],
  ])('%s', async (_name, statements) => {
    expect(await partitionsOf(statements)).toEqual([`usage_month_${MONTHS - 2}`]);
  });
});
