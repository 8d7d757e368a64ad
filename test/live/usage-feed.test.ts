import { pgPool } from '../../src/db/connection.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import type { UsageItemOutput } from '../../src/services/billing/billing.outputs.js';
import { createSignalBoard, type SignalBoard } from '../../src/services/live/signals.js';
import { createUsageFeed, type UsageFeed } from '../../src/services/live/usage-feed.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import fc from '../support/fast-check.js';
import { until } from '../support/until.js';
import { watchPool } from '../support/watched-pool.js';

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

  test('sends what is committed from now on, and no earlier events', async () => {
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

  test('sends errors, which cost nothing and leave no ledger entry', async () => {
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
    'sends events that were completed %s ago, as a dead edge leaves them, among new ones',
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

  test('sends events of an edge whose clock is two hours ahead', async () => {
    const payer = await createPayer(db.pool);
    const reader = await read(payer.accountId);
    const ahead = recordsOf(payer, 2, Date.now() + 2 * HOUR_MS);
    await flush(ahead);
    await until(() => reader.ids.length >= 2);
    expect([...reader.ids].sort()).toEqual(idsOf(ahead));
    await ended(reader);
  });

  test('sends all of a large backlog, page after page, while more is written', async () => {
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

  test('events missed while disconnected come with the next signal', async () => {
    const payer = await createPayer(db.pool);
    const reader = await read(payer.accountId);
    const missed = recordsOf(payer, 3);
    await flushBatch(db.pool, missed);
    board.usageFlushed(null);
    await until(() => reader.ids.length >= 3);
    expect([...reader.ids].sort()).toEqual(idsOf(missed));
    await ended(reader);
  });

  test("doesn't repeat a batch that is sent again, as after a crash", async () => {
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

  test('with many writers, events of any age, lost and doubled signals, slow and fast readers, each gets each event once', async () => {
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

  /** Reads of the feed while `work` runs. */
  const readsDuring = async (work: () => Promise<void>): Promise<number> => {
    let reads = 0;
    const pool = await pgPool(db.orm);
    const { connect } = pool;
    watchPool(pool, (text, ask) => {
      if (text.includes('pg_current_snapshot')) reads++;
      return ask();
    });
    try {
      await work();
    } finally {
      pool.connect = connect;
    }
    return reads;
  };
  const MOST = 20;

  test('is read once for all followers of an account', async () => {
    const payer = await createPayer(db.pool);
    let readers: Reader[] = [];
    const opening = await readsDuring(async () => {
      readers = await Promise.all(Array.from({ length: MOST }, () => read(payer.accountId)));
    });
    expect(opening).toBeLessThanOrEqual(2);
    const records = recordsOf(payer, 3);
    const reads = await readsDuring(async () => {
      await flush(records);
      await until(() => readers.every(({ ids }) => ids.length === 3));
    });
    expect(reads).toBeLessThanOrEqual(2);
    for (const reader of readers) {
      expect([...reader.ids].sort()).toEqual(idsOf(records));
      await ended(reader);
    }
  });

  test('another account waits for one read of each followed account, not of each follower', async () => {
    const crowd = await Promise.all(Array.from({ length: 16 }, () => createPayer(db.pool)));
    const stranger = await createPayer(db.pool);
    const followers = (
      await Promise.all(
        crowd.map(({ accountId }) => Promise.all(Array.from({ length: MOST }, () => read(accountId)))),
      )
    ).flat();
    const reader = await read(stranger.accountId);
    const reads = await readsDuring(async () => {
      await flushBatch(
        db.pool,
        [...crowd, stranger].flatMap((payer) => recordsOf(payer, 2)),
      );
      board.usageFlushed([...crowd.map(({ accountId }) => accountId), stranger.accountId]);
      await until(() => reader.ids.length === 2);
    });
    expect(reads).toBeLessThanOrEqual(2 * (crowd.length + 1));
    await until(() => followers.every(({ ids }) => ids.length === 2));
    for (const one of [...followers, reader]) await ended(one);
  });

  test('sends no earlier events to a follower that joins others, and everything to the others', async () => {
    const payer = await createPayer(db.pool);
    const first = await read(payer.accountId);
    const before = recordsOf(payer, 2);
    // Not sent to anybody yet.
    await flushBatch(db.pool, before);
    const second = await read(payer.accountId);
    const fresh = recordsOf(payer, 1);
    await flush(fresh);
    await until(() => first.ids.length >= 3 && second.ids.length >= 1);
    expect([...first.ids].sort()).toEqual(idsOf([...before, ...fresh]));
    expect(second.ids).toEqual(idsOf(fresh));
    await ended(first);
    await ended(second);
  });

  test('sends each event once to followers, even to one that is thousands behind', async () => {
    const payer = await createPayer(db.pool);
    const fast = await read(payer.accountId);
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const slow = await read(payer.accountId, () => held);
    const all: UsageRecord[] = [];
    for (let n = 0; n < 6; n++) {
      const records = recordsOf(payer, 600);
      all.push(...records);
      await flush(records);
      await until(() => fast.ids.length === all.length);
    }
    expect(slow.ids).toHaveLength(1);
    go();
    await until(() => slow.ids.length >= all.length);
    expect([...slow.ids].sort()).toEqual(idsOf(all));
    await ended(fast);
    await ended(slow);
  });

  test(`has at most ${MOST} followers per account, and accepts another when one has left`, async () => {
    const payer = await createPayer(db.pool);
    const readers = await Promise.all(Array.from({ length: MOST }, () => read(payer.accountId)));
    await expect(read(payer.accountId)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    const stranger = await read((await createPayer(db.pool)).accountId);
    await ended(readers.pop()!);
    readers.push(await read(payer.accountId), stranger);
    for (const reader of readers) await ended(reader);
  });

  test('releases a follower that leaves at once, even if nothing happens', async () => {
    const payer = await createPayer(db.pool);
    const reader = await read(payer.accountId);
    await flush(recordsOf(payer, 1));
    await until(() => reader.ids.length === 1);
    await ended(reader);
    await flush(recordsOf(payer, 1));
    expect(reader.ids).toHaveLength(1);
  });

  test('nobody can follow without a session', async () => {
    await expect(feed.usageRecorded(contextOf(db, null))).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
