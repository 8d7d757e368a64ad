import pg from 'pg';
import { applyFunctions } from '../../src/db/apply-functions.js';
import { keepLedger } from '../../src/db/functions/keep-ledger.js';
import { keyMonthSpend } from '../../src/db/functions/key-month-spend.js';
import { refuseChange } from '../../src/db/functions/refuse-change.js';
import { migrate } from '../../src/db/migrate.js';
import { seedCatalog } from '../../src/db/seed.js';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR, type Money, parseMoney } from '../../src/lib/money.js';
import { isDataFault } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { rollUpUsage } from '../../src/services/analytics/rollups.service.js';
import { postDueCharges } from '../../src/services/billing/charge-posting.js';
import { postLedgerEntry } from '../../src/services/billing/ledger.store.js';
import { jobContext } from '../jobs/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { until } from '../support/until.js';
import { formerBatch } from './former-batch.js';
import { FORMER_WRITE_CALLS } from './former-write-calls.js';
import { createPayer, flushWhenFree, type Payer, recordOf } from './support.js';

/** The last migration of version 1.1. */
const FORMER = 'Migration20261223000000';
const FUNDS = 1_000n * DOLLAR;
const CREDIT = DOLLAR / 7n;
const PAYERS = 6;
const EDGES = 2;
const BATCH = 12;

describe('edges of version 1.1 that charge calls while the database is upgraded', () => {
  let db: TestDatabase;
  let payers: Payer[];
  const pools: pg.Pool[] = [];
  const sent: UsageRecord[] = [];
  let credits = 0;
  let stopped = false;
  let ended = false;
  beforeAll(async () => {
    db = await createTestDatabase('template0');
    await db.orm.migrator.up({ to: FORMER });
    await seedCatalog(db.orm.em.fork());
    const functions = [
      refuseChange,
      keepLedger,
      keyMonthSpend,
      { name: 'write_calls', sql: FORMER_WRITE_CALLS },
    ];
    await db.orm.em.fork().transactional((em) => applyFunctions(em, { revision: 1, functions }));
    payers = await Promise.all(Array.from({ length: PAYERS }, () => createPayer(db.pool, FUNDS)));
    for (let i = 0; i < EDGES; i++) pools.push(new pg.Pool({ connectionString: db.url, max: 2 }));
  });
  afterAll(async () => {
    ended = true;
    for (const pool of pools) await pool.end();
    await db.close();
  });

  /** Calls of several accounts, one of which failed. */
  const makeBatch = (): UsageRecord[] => {
    const records = Array.from({ length: BATCH }, (_, i) =>
      recordOf(payers[(sent.length + i) % PAYERS]!, {
        id: newId(),
        inputTokens: 1 + ((sent.length + i) % 97),
        ...(i === 0 && {
          status: 'error',
          errorCode: 'upstream_error',
          httpStatus: 502,
          inputTokens: 0,
          outputTokens: 0,
        }),
      }),
    );
    sent.push(...records);
    return records;
  };

  /** Sends a batch as edges of that version do: again after every error that doesn't blame the data. */
  const send = async (pool: pg.Pool, records: readonly UsageRecord[]): Promise<number> => {
    for (;;) {
      try {
        return (await formerBatch(pool, records)).inserted;
      } catch (error) {
        if (isDataFault(error) || ended) throw error;
      }
    }
  };

  /** One edge. Another one may have adopted its spool, and sends the same batch at the same time. */
  const edge = async (nth: number): Promise<void> => {
    while (!stopped && !ended) {
      const records = makeBatch();
      const twice = [pools[nth]!, pools[(nth + 1) % EDGES]!].map((pool) => send(pool, records));
      const [first, second] = await Promise.all(twice);
      expect(first! + second!).toBe(BATCH);
      expect(await send(pools[nth]!, records)).toBe(0);
      await credit(payers[credits++ % PAYERS]!);
    }
  };

  const credit = (payer: Payer) =>
    db.orm.em.fork().transactional((em) =>
      postLedgerEntry(em, {
        accountId: payer.accountId,
        kind: 'adjustment',
        amount: CREDIT,
        now: Date.now(),
      }),
    );

  test('charge each call once, before, during and after it', async () => {
    const edges = Promise.all(pools.map((_, nth) => edge(nth)));
    const failed = edges.then(() => new Promise<never>(() => undefined));
    const sentFrom = (count: number) => until(() => sent.length >= count, { what: 'calls of the edges' });
    await Promise.race([failed, sentFrom(8 * BATCH)]);
    const before = sent.length;
    const { migrations } = await migrate(db.orm);
    expect(migrations.length).toBeGreaterThan(0);
    const after = sent.length;
    await Promise.race([failed, sentFrom(after + 8 * BATCH)]);
    // Edges of this version join, and repeat what those of version 1.1 have sent before the upgrade.
    for (let i = 0; i < before; i += BATCH)
      expect((await flushWhenFree(db.pool, sent.slice(i, i + BATCH))).inserted).toBe(0);
    for (let i = 0; i < 3; i++) expect((await flushWhenFree(db.pool, makeBatch())).inserted).toBe(BATCH);
    stopped = true;
    await edges;

    const charges = new Map(payers.map(({ accountId }) => [accountId, 0n as Money]));
    for (const { accountId, cost } of sent) charges.set(accountId, charges.get(accountId)! + cost);
    const { rows } = await db.pool.query<{ id: string; balance: string }>(
      'select id, balance::text from accounts',
    );
    const found = new Map(rows.map(({ id, balance }) => [id, parseMoney(balance)]));
    payers.forEach(({ accountId }, nth) => {
      const credited = BigInt(Math.floor((credits + PAYERS - 1 - nth) / PAYERS)) * CREDIT;
      expect([accountId, found.get(accountId)]).toEqual([
        accountId,
        FUNDS + credited - charges.get(accountId)!,
      ]);
    });
    const { rows: usage } = await db.pool.query<{ id: string; cost: string }>(
      'select id, cost::text from usage_events',
    );
    expect(new Map(usage.map(({ id, cost }) => [id, parseMoney(cost)]))).toEqual(
      new Map(sent.map(({ id, cost }) => [id, cost])),
    );
    expect(usage.length).toBe(sent.length);
    expect(await checkInvariants(db.pool)).toEqual([]);
    const { context } = jobContext(db.orm);
    await postDueCharges(context);
    await rollUpUsage(context);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });
});
