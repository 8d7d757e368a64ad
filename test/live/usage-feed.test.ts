import fc from 'fast-check';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import type { UsageItemOutput } from '../../src/services/billing/billing.outputs.js';
import { createSignalBoard, type SignalBoard } from '../../src/services/live/signals.js';
import { createUsageFeed, type UsageFeed } from '../../src/services/live/usage-feed.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Reader {
  ids: string[];
  events: UsageItemOutput[];
  done: Promise<void>;
  leave(): Promise<unknown>;
}

describe('the usage feed', () => {
  let db: TestDatabase;
  let board: SignalBoard;
  let feed: UsageFeed;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(() => {
    board = createSignalBoard();
    feed = createUsageFeed({ signals: board });
  });
  afterAll(async () => {
    await db.close();
  });

  const read = async (accountId: string, slowly?: () => Promise<void>): Promise<Reader> => {
    const iterator = await feed.usageRecorded(contextOf(db, accountId));
    const events: UsageItemOutput[] = [];
    const ids: string[] = [];
    const consume = async (): Promise<void> => {
      for await (const event of iterator) {
        events.push(event);
        ids.push(event.id);
        await slowly?.();
      }
    };
    return { ids, events, done: consume(), leave: () => iterator.return!() };
  };
  const ended = async ({ leave, done }: Reader): Promise<void> => {
    await leave();
    await done;
  };
  const flush = async (records: UsageRecord[]): Promise<void> => {
    await flushBatch(db.pool, records);
    board.usageFlushed([...new Set(records.map(({ accountId }) => accountId))]);
  };
  const recordsOf = (payer: Payer, count: number, createdAt = Date.now()): UsageRecord[] =>
    Array.from({ length: count }, () => recordOf(payer, { createdAt }));
  const idsOf = (records: readonly UsageRecord[]): string[] => records.map(({ id }) => id).sort();

  test('tells what is committed from now on, and nothing that was there', async () => {
    const payer = await createPayer(db.pool);
    await flush(recordsOf(payer, 3));
    const reader = await read(payer.accountId);
    const fresh = recordsOf(payer, 4);
    await flush(fresh);
    await until(() => reader.ids.length >= 4);
    board.usageFlushed(null);
    await flush(recordsOf(await createPayer(db.pool), 2));
    const last = recordsOf(payer, 1);
    await flush(last);
    await until(() => reader.ids.length >= 5);
    expect([...reader.ids].sort()).toEqual(idsOf([...fresh, ...last]));
    expect(reader.events[0]).toMatchObject({ cost_usd: '0.000250', status: 'success', key_id: payer.keyId });
    await ended(reader);
  });

  test('tells errors, which cost nothing and leave no entry in the ledger', async () => {
    const payer = await createPayer(db.pool);
    const reader = await read(payer.accountId);
    await flush([
      recordOf(payer, { status: 'error', cost: 0n, errorCode: 'upstream_error', httpStatus: 502 }),
    ]);
    await until(() => reader.ids.length === 1);
    expect(reader.events[0]).toMatchObject({
      status: 'error',
      error_code: 'upstream_error',
      cost_usd: '0.000000',
    });
    await ended(reader);
  });

  test.each([
    ['a minute', MINUTE_MS],
    ['three hours', 3 * HOUR_MS],
    ['almost a day', 23 * HOUR_MS],
  ])(
    'tells events that were completed %s ago, as a dead edge leaves them, among new ones',
    async (_age, ageMs) => {
      const payer = await createPayer(db.pool);
      await flush(recordsOf(payer, 5, Date.now() - ageMs));
      const reader = await read(payer.accountId);
      const late = recordsOf(payer, 3, Date.now() - ageMs);
      const fresh = recordsOf(payer, 3);
      await flush([...fresh.slice(1), late[0]!]);
      await flush(late.slice(1));
      await flush(fresh.slice(0, 1));
      await until(() => reader.ids.length >= 6);
      expect([...reader.ids].sort()).toEqual(idsOf([...late, ...fresh]));
      await ended(reader);
    },
  );

  test('tells all of a large backlog, page after page, while more is written', async () => {
    const payer = await createPayer(db.pool);
    let written = 0;
    const more: UsageRecord[] = [];
    const reader = await read(payer.accountId, async () => {
      // In the middle of the second page.
      if (++written !== 700) return;
      more.push(...recordsOf(payer, 20, Date.now() - HOUR_MS), ...recordsOf(payer, 20));
      await flush(more);
    });
    const backlog = [...recordsOf(payer, 600), ...recordsOf(payer, 650, Date.now() - 2 * MINUTE_MS)];
    await flush(backlog);
    await until(() => reader.ids.length >= backlog.length + 40);
    expect([...reader.ids].sort()).toEqual(idsOf([...backlog, ...more]));
    await ended(reader);
  });

  test('what was missed while nothing was heard comes with the next signal', async () => {
    const payer = await createPayer(db.pool);
    const reader = await read(payer.accountId);
    const missed = recordsOf(payer, 3);
    await flushBatch(db.pool, missed);
    board.usageFlushed(null);
    await until(() => reader.ids.length >= 3);
    expect([...reader.ids].sort()).toEqual(idsOf(missed));
    await ended(reader);
  });

  test('a batch that is sent again, as after a crash, is not told again', async () => {
    const payer = await createPayer(db.pool);
    const reader = await read(payer.accountId);
    const records = recordsOf(payer, 10);
    await flush(records);
    await flush(records);
    const last = recordsOf(payer, 1);
    await flush([...last, ...records]);
    await until(() => reader.ids.length >= 11);
    expect([...reader.ids].sort()).toEqual(idsOf([...records, ...last]));
    await ended(reader);
  });

  test('many writers, any ages, signals lost and doubled, slow and fast readers: each event once to each', async () => {
    const ages = fc.oneof(fc.constant(0), fc.nat(3_000), fc.nat(20 * HOUR_MS));
    const batch = fc.record({
      ages: fc.array(ages, { minLength: 1, maxLength: 8 }),
      signals: fc.nat(2),
      lane: fc.nat(2),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 12 }), async (batches) => {
        const payer = await createPayer(db.pool);
        await flush(recordsOf(payer, 2, Date.now() - 10 * HOUR_MS));
        const readers = [
          await read(payer.accountId),
          await read(payer.accountId, () => new Promise((resolve) => setImmediate(resolve))),
        ];
        const all: UsageRecord[] = [];
        await Promise.all(
          [0, 1, 2].map(async (lane) => {
            for (const { ages, signals } of batches.filter((one) => one.lane === lane)) {
              const records = ages.flatMap((age) => recordsOf(payer, 1, Date.now() - age));
              all.push(...records);
              await flushBatch(db.pool, records);
              for (let n = 0; n < signals; n++) board.usageFlushed([payer.accountId]);
            }
          }),
        );
        board.usageFlushed(null);
        for (const reader of readers) {
          await until(() => reader.ids.length >= all.length);
          await ended(reader);
          expect([...reader.ids].sort()).toEqual(idsOf(all));
        }
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  test('one who leaves is let go at once, also while nothing happens', async () => {
    const payer = await createPayer(db.pool);
    const reader = await read(payer.accountId);
    await flush(recordsOf(payer, 1));
    await until(() => reader.ids.length === 1);
    await ended(reader);
    await flush(recordsOf(payer, 1));
    expect(reader.ids).toHaveLength(1);
  });

  test('nobody follows without a session', async () => {
    await expect(feed.usageRecorded(contextOf(db, null))).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
