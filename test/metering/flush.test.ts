import pg from 'pg';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR, formatMoney, parseMoney } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { terminatedEvent } from '../../src/metering/replay.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import fc from '../support/fast-check.js';
import { checkInvariants } from '../support/invariants.js';
import { until } from '../support/until.js';
import { formerBatch } from './former-batch.js';
import { createPayer, flushWhenFree, intentOf, type Payer, recordOf } from './support.js';

const byDay = (a: { day: string; spend: bigint }, b: { day: string; spend: bigint }): number =>
  a.day < b.day ? -1 : a.day > b.day ? 1 : Number(a.spend - b.spend);

describe('a flushed batch', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const one = async <T>(query: string, ...values: unknown[]): Promise<T> =>
    (await db.pool.query(query, values)).rows[0] as T;
  const balanceOf = async (payer: Payer): Promise<bigint> =>
    parseMoney(
      (await one<{ b: string }>('select balance::text as b from accounts where id = $1', payer.accountId)).b,
    );

  test("a flush debits exactly tokens × price and reports the balance and the key's spend", async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    const createdAt = Date.UTC(2026, 1, 28, 23, 59, 59, 999);
    const record = recordOf(payer, { createdAt, inputTokens: 1, outputTokens: 0, priceIn: 50_000n });
    const result = await flushBatch(db.pool, [record, recordOf(payer, { createdAt: createdAt + 1 })]);
    const balance = DOLLAR - 50_000n - 250_000_000n;
    expect(result.accounts).toEqual([{ id: payer.accountId, balance, seq: 3n }]);
    expect(result.keyDays.sort((a, b) => (a.day < b.day ? -1 : 1))).toEqual([
      { keyId: payer.keyId, day: '2026-02-28', spend: 50_000n },
      { keyId: payer.keyId, day: '2026-03-01', spend: 250_000_000n },
    ]);
    expect(await balanceOf(payer)).toBe(balance);
    expect(
      await one(
        `select key_month_spend($1, '2026-02')::float8 as feb, key_month_spend($1, '2026-03')::float8 as mar,
           key_month_spend($1, '2026-04')::float8 as apr`,
        payer.keyId,
      ),
    ).toEqual({ feb: 0.00000005, mar: 0.00025, apr: 0 });
    expect(
      await one('select max(last_used_at) as at from key_spend_days where key_id = $1', payer.keyId),
    ).toEqual({
      at: new Date(createdAt + 1),
    });
  });

  test('a batch of an edge of the previous build is written as the same batch of this build', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    const other = await createPayer(db.pool, DOLLAR);
    const createdAt = Date.UTC(2026, 1, 28, 23, 59, 59, 999);
    const records = [
      recordOf(payer, { createdAt, deployment: 'fast-1', nodeCalls: 2 }),
      recordOf(other, { createdAt: createdAt + 1, inputTokens: 7 }),
      recordOf(payer, { createdAt: createdAt + 1, status: 'error', cost: 0n, errorCode: 'upstream_error' }),
      recordOf(payer, { createdAt: createdAt + 2, stream: true, servedModel: 'gateway/qwen-pro' }),
    ];
    const known = recordOf(payer, { createdAt });
    await flushBatch(db.pool, [known]);
    const stranger = { ...recordOf(payer), accountId: newId() };
    const sent = await formerBatch(db.pool, [...records, known, stranger]);
    expect(sent).toMatchObject({ inserted: 4, unknown: stranger.accountId });
    const again = await flushBatch(db.pool, records);
    expect(again.inserted).toBe(0);
    const balances = sent.balances.split(',').map((text) => text.split(' '));
    expect(
      balances.map(([id, balance, seq]) => ({ id, balance: parseMoney(balance!), seq: BigInt(seq!) })),
    ).toEqual(expect.arrayContaining(again.accounts));
    expect(await balanceOf(payer)).toBe(DOLLAR - 3n * known.cost);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('a repeated batch reports the same counts of keys and widgets as the first time, also to an edge of the previous build', async () => {
    const payer = await createPayer(db.pool);
    const widgetId = newId();
    const createdAt = Date.UTC(2026, 3, 5, 23, 59, 59, 999);
    const records = [
      recordOf(payer, { createdAt }),
      recordOf(payer, { createdAt, keyId: null, widgetId }),
      recordOf(payer, { createdAt: createdAt + 1, keyId: null, widgetId }),
    ];
    const first = await flushBatch(db.pool, records);
    expect(first.keyDays).toHaveLength(3);
    expect((await flushBatch(db.pool, records)).keyDays.sort(byDay)).toEqual(first.keyDays.sort(byDay));
    const days = (await formerBatch(db.pool, records)).key_days.split(',').map((text) => text.split(' '));
    expect(
      days.map(([keyId, day, spend]) => ({ keyId, day: day!, spend: parseMoney(spend!) })).sort(byDay),
    ).toEqual(first.keyDays);
  });

  test('a failed call counts as a use of its key, but not as spend', async () => {
    const payer = await createPayer(db.pool);
    const failed = recordOf(payer, { status: 'error', createdAt: Date.UTC(2026, 3, 5, 12) });
    expect(await flushBatch(db.pool, [failed])).toMatchObject({
      inserted: 1,
      keyDays: [{ keyId: payer.keyId, day: '2026-04-05', spend: 0n }],
    });
    expect(
      await one(
        'select spend::float8, last_used_at as at from key_spend_days where key_id = $1',
        payer.keyId,
      ),
    ).toEqual({ spend: 0, at: new Date(failed.createdAt) });
  });

  test('every field is stored as recorded, prices in dollars per million tokens', async () => {
    const payer = await createPayer(db.pool);
    const record = recordOf(payer, { ttftMs: 12, estimated: true, priceIn: 123_456n });
    await flushBatch(db.pool, [record]);
    const row = await one<Record<string, unknown>>('select * from usage_events where id = $1', record.id);
    expect(row).toMatchObject({
      price_in: '0.123456000000',
      price_out: '0.300000000000',
      cost: `${formatMoney(record.cost).padEnd(14, '0')}`,
      created_at: new Date(record.createdAt),
      ttft_ms: 12,
      estimated: true,
      client_aborted: false,
      key_id: payer.keyId,
    });
  });

  test('sending a batch again changes nothing, and still reports the current balances', async () => {
    const payer = await createPayer(db.pool);
    const records = [recordOf(payer), recordOf(payer)];
    const first = await flushBatch(db.pool, records);
    const second = await flushBatch(db.pool, records);
    expect(first.inserted).toBe(2);
    expect(second.inserted).toBe(0);
    expect(second.accounts).toEqual(first.accounts);
    expect(second.keyDays).toEqual(first.keyDays);
  });

  test('an event is not charged a second time under another time', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    const record = recordOf(payer);
    await flushBatch(db.pool, [record]);
    const again = { ...record, createdAt: record.createdAt + 5 };
    expect((await flushBatch(db.pool, [again])).inserted).toBe(0);
    expect(await balanceOf(payer)).toBe(DOLLAR - record.cost);
  });

  test('a finished call is never recorded as terminated', async () => {
    const payer = await createPayer(db.pool);
    const intent = intentOf(payer);
    await flushBatch(db.pool, [
      recordOf(payer, { id: intent.id, createdAt: intent.at + 900, status: 'error' }),
    ]);
    expect((await flushBatch(db.pool, [terminatedEvent(intent)])).inserted).toBe(0);
  });

  test('a call that was recorded as terminated and finishes nevertheless is charged in its place', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    const intent = intentOf(payer);
    await flushBatch(db.pool, [terminatedEvent(intent)]);
    const finished = recordOf(payer, { id: intent.id, createdAt: intent.at + 70_000 });
    for (const inserted of [1, 0]) expect(await flushBatch(db.pool, [finished])).toMatchObject({ inserted });
    expect((await flushBatch(db.pool, [terminatedEvent(intent)])).inserted).toBe(0);
    expect(await balanceOf(payer)).toBe(DOLLAR - finished.cost);
    const { rows } = await db.pool.query(
      `select status, (select sum(events)::integer from account_usage_hours where account_id = $1) as counted
       from usage_events where account_id = $1`,
      [payer.accountId],
    );
    expect(rows).toEqual([{ status: 'success', counted: 1 }]);
  });

  test('records of accounts that do not exist are left out and reported', async () => {
    const payer = await createPayer(db.pool);
    const good = recordOf(payer);
    const orphan = recordOf({ accountId: newId(), keyId: newId() });
    const result = await flushBatch(db.pool, [orphan, good]);
    expect(result.refused).toEqual([orphan]);
    expect(result.inserted).toBe(1);
  });

  test('one rejected record rolls back the whole batch', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    const bad = recordOf(payer, { inputTokens: -1, cost: 0n });
    await expect(flushBatch(db.pool, [recordOf(payer), bad])).rejects.toMatchObject({ code: '23514' });
    expect(await balanceOf(payer)).toBe(DOLLAR);
  });

  test('a batch that is interrupted writes nothing and can be sent again', async () => {
    const payer = await createPayer(db.pool, DOLLAR);
    const pool = new pg.Pool({ connectionString: db.url, max: 1 });
    pool.on('error', () => undefined);
    const records = [recordOf(payer), recordOf(payer)];
    const waiting = `from pg_stat_activity
      where query like '%charge_calls%' and wait_event_type = 'Lock' and datname = current_database()`;
    /** Ends the flush while it waits for the lock. On a busy machine that wait may end before; then it tries again. */
    const refusedBy = async (end: string): Promise<string> => {
      for (;;) {
        let code: string | undefined;
        const flush = flushBatch(pool, records).then(
          () => 'committed',
          (error: { code: string }) => error.code,
        );
        void flush.then((outcome) => {
          code = outcome;
        });
        await until(async () => code ?? (await db.pool.query(`select ${end}(pid) ${waiting}`)).rowCount);
        if ((await flush) !== '55P03') return flush;
      }
    };
    const other = await db.pool.connect();
    try {
      await other.query('begin');
      await other.query('select from accounts where id = $1 for update', [payer.accountId]);
      const ends = [
        { end: 'pg_cancel_backend', code: '57014', connections: 1 },
        { end: 'pg_terminate_backend', code: '57P01', connections: 0 },
      ];
      for (const { end, code, connections } of ends) {
        expect(await refusedBy(end)).toBe(code);
        expect([pool.totalCount, pool.idleCount]).toEqual([connections, connections]);
      }
      await other.query('rollback');
      expect((await flushBatch(pool, records)).inserted).toBe(2);
      expect(await balanceOf(payer)).toBe(DOLLAR - records[0]!.cost - records[1]!.cost);
    } finally {
      other.release();
      await pool.end();
    }
  });

  test("days and hours count in UTC, whatever the connection's time zone", async () => {
    const payer = await createPayer(db.pool);
    const pool = new pg.Pool({ connectionString: db.url, max: 1, options: '-c timezone=Asia/Kolkata' });
    try {
      const { keyDays } = await flushBatch(pool, [
        recordOf(payer, { createdAt: Date.UTC(2026, 4, 31, 23, 45) }),
      ]);
      expect(keyDays).toMatchObject([{ day: '2026-05-31' }]);
      expect(
        await one('select hour from account_usage_hours where account_id = $1', payer.accountId),
      ).toEqual({ hour: new Date(Date.UTC(2026, 4, 31, 23)) });
    } finally {
      await pool.end();
    }
  });

  test('a kept plan finds a partition that was added later', async () => {
    const payer = await createPayer(db.pool);
    const createdAt = Date.UTC(2030, 0, 15);
    const intent = intentOf(payer);
    const finished = recordOf(payer, { id: intent.id, createdAt, status: 'error' });
    const pool = new pg.Pool({ connectionString: db.url, max: 1 });
    try {
      await flushBatch(pool, [recordOf(payer)]);
      await db.pool.query(
        `create table calls_later partition of calls for values from ('2030-01-01') to ('2031-01-01')`,
      );
      expect((await flushBatch(pool, [finished])).inserted).toBe(1);
      expect(await one('select id from calls_later')).toEqual({ id: intent.id });
      const terminated = terminatedEvent({ ...intent, at: createdAt - 900 });
      expect((await flushBatch(pool, [finished, terminated])).inserted).toBe(0);
    } finally {
      await pool.end();
    }
  });

  test('two flushers that send random batches with duplicates at once keep every invariant', async () => {
    const payers = await Promise.all([1, 2, 3].map(() => createPayer(db.pool)));
    const tokens = fc.nat(100_000);
    const draft = fc.record({
      payer: fc.constantFrom(...payers),
      withKey: fc.boolean(),
      inputTokens: tokens,
      outputTokens: tokens,
      priceIn: fc.bigInt(0n, 2_000_000n),
      priceOut: fc.bigInt(0n, 2_000_000n),
      status: fc.constantFrom<'success' | 'error'>('success', 'error'),
      createdAt: fc.integer({ min: Date.UTC(2026, 0, 31, 23, 59, 59), max: Date.UTC(2026, 1, 1, 0, 0, 1) }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(draft, { minLength: 1, maxLength: 40 }),
        fc.nat(39),
        async (drafts, split) => {
          const records = drafts.map(({ payer, withKey, ...changes }) => {
            const record = recordOf(payer, changes);
            return withKey ? record : { ...record, keyId: null };
          });
          const before = await Promise.all(payers.map(balanceOf));
          await Promise.all([
            flushWhenFree(db.pool, [...records, ...records.slice(0, 3)]),
            flushWhenFree(db.pool, records.slice(split).reverse()),
          ]);
          for (const [index, payer] of payers.entries()) {
            const cost = records
              .filter((record) => record.accountId === payer.accountId)
              .reduce((sum, record) => sum + record.cost, 0n);
            expect(await balanceOf(payer)).toBe(before[index]! - cost);
          }
        },
      ),
      { numRuns: 25 },
    );
    expect(await checkInvariants(db.pool)).toEqual([]);
  });
});
