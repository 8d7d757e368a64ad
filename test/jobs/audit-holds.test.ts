import { newId } from '../../src/lib/ids.js';
import { DOLLAR, type Money } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { runAudit } from '../../src/services/audit/audit.service.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { jobContext } from './support.js';

const CENT: Money = DOLLAR / 100n;
const NOON = Date.UTC(2026, 10, 21, 12);

/** A call's cost in cents, with its start and end in seconds after noon. */
interface Charged {
  cents: number;
  from: number;
  to: number;
}

/** Books with correct entries, of calls that may have been admitted wrongly. */
describe('the audit of holds', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const charge = async (payer: Payer, calls: Charged[], by: Partial<UsageRecord> = {}): Promise<void> => {
    const records = calls.map(({ cents, from, to }) =>
      recordOf(payer, {
        ...by,
        createdAt: NOON + to * 1_000,
        latencyMs: (to - from) * 1_000,
        inputTokens: cents,
        outputTokens: 0,
        priceIn: CENT,
      }),
    );
    await flushBatch(db.pool, records);
  };
  const violated = async (payer: Payer): Promise<boolean> => {
    const { context } = jobContext(db.orm);
    const broken = (await runAudit(context)).filter(({ violations }) => violations > 0);
    expect(broken.filter(({ invariant }) => invariant.name !== 'I7')).toEqual([]);
    return broken.some(({ subjects }) => subjects.includes(payer.accountId));
  };
  const parallel = (cents: number, count: number, to = 2): Charged[] =>
    Array.from({ length: count }, () => ({ cents, from: 0, to }));

  test('finds parallel calls that no hold covered, though an earlier call cost more than all of them', async () => {
    const payer = await createPayer(db.pool, 108n * CENT);
    await charge(payer, [{ cents: 100, from: -3 * 60, to: -2 * 60 }]);
    await charge(payer, parallel(5, 16));
    expect(await violated(payer)).toBe(true);
  });

  test('finds a call that was admitted below the floor', async () => {
    const payer = await createPayer(db.pool, 10n * CENT);
    await charge(payer, [
      { cents: 12, from: 0, to: 2 },
      { cents: 5, from: 10, to: 12 },
    ]);
    expect(await violated(payer)).toBe(true);
  });

  test.each([
    [
      'the last call below the floor',
      [
        { cents: 8, from: 0, to: 1 },
        { cents: 5, from: 2, to: 3 },
      ],
    ],
    ['a dear call, admitted last beside small ones', [...parallel(1, 3), { cents: 20, from: 1, to: 9 }]],
    ['the same, which is over first', [{ cents: 20, from: 1, to: 2 }, ...parallel(1, 3, 9)]],
  ])('accepts %s', async (_what, calls) => {
    const payer = await createPayer(db.pool, 10n * CENT);
    await charge(payer, calls);
    expect(await violated(payer)).toBe(false);
  });

  test("allows widgets' messages down to a balance of 0, and keys' calls down to $0.001", async () => {
    const call: Charged = { cents: 1, from: 0, to: 1 };
    const [key, widget, poor] = [
      await createPayer(db.pool, CENT / 20n),
      await createPayer(db.pool, CENT / 20n),
      await createPayer(db.pool, 1n),
    ];
    await charge(key, [call]);
    expect(await violated(key)).toBe(true);
    await charge(widget, [call], { keyId: null, widgetId: newId() });
    expect(await violated(widget)).toBe(false);
    await charge(poor, [call], { keyId: null, widgetId: newId() });
    expect(await violated(poor)).toBe(false);
    await charge(poor, [{ cents: 1, from: 10, to: 11 }], { keyId: null, widgetId: newId() });
    expect(await violated(poor)).toBe(true);
  });

  test('accepts calls in flight while an adjustment takes the rest of the balance, but no later ones', async () => {
    const payer = await createPayer(db.pool, 10n * CENT);
    const take = async (seq: number, amount: string, after: string, at: number) =>
      db.pool.query(
        `with entry as (
           insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
           values (gen_random_uuid(), $1, $2, 'adjustment', $3, $4, to_timestamp($5)))
         update accounts set balance = $4, ledger_seq = $2 where id = $1`,
        [payer.accountId, seq, amount, after, at / 1_000],
      );
    await take(2, '-0.1', '0', NOON + 1_000);
    await charge(payer, parallel(3, 3));
    expect(await violated(payer)).toBe(false);
    await charge(payer, [{ cents: 1, from: 300, to: 301 }]);
    expect(await violated(payer)).toBe(true);
  });
});
