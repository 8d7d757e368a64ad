import { firingsOf, limitKey, subscribe } from '../alerts/support.js';
import { createPayer, type Payer } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const AT = new Date('2026-03-15T12:00:00Z');

/** The function itself, without the flush: what a transaction has written decides what fires in it. */
describe('fire_alerts', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  interface Call {
    /** Dollars spent by the key this month, including this call. */
    spend: string;
    status?: 'success' | 'error';
    cost?: string;
  }

  /** What fires after one call of a key, as `YYYY-MM percent`. */
  async function fired(payer: Payer, { spend, status = 'success', cost = '0' }: Call): Promise<string[]> {
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query(
        `insert into key_spend_days (key_id, day, spend) values ($1, $2, $3)
         on conflict (key_id, day) do update set spend = excluded.spend`,
        [payer.keyId, AT, spend],
      );
      const one = [[AT], [payer.accountId], [payer.keyId], [cost], [status]];
      await client.query('select fire_alerts($1, $2, $3, $4, $5, 5, $6)', [...one, 'too many']);
      await client.query('commit');
    } finally {
      client.release();
    }
    return firingsOf(db.pool, payer);
  }

  test.each([
    ['nothing below the first percentage', '4.99', [50, 80], []],
    ['a percentage that is reached exactly', '5', [50, 80], ['50']],
    ['each that is reached', '9.99', [50, 80, 100], ['50', '80']],
    ['each of them beyond the limit', '25', [50, 80, 100], ['50', '80', '100']],
  ])('fires %s', async (_what, spend, thresholds, expected) => {
    const payer = await createPayer(db.pool);
    await limitKey(db.pool, payer, 10);
    await subscribe(db.pool, payer, thresholds);
    expect(await fired(payer, { spend })).toEqual(expected.map((pct) => `2026-03 ${pct}`));
  });

  test('fires nothing for a call that failed', async () => {
    const payer = await createPayer(db.pool);
    await limitKey(db.pool, payer, 10);
    await subscribe(db.pool, payer, [50]);
    expect(await fired(payer, { spend: '5', status: 'error' })).toEqual([]);
    expect(await fired(payer, { spend: '5' })).toEqual(['2026-03 50']);
  });

  test.each([
    ['a limit', (payer: Payer) => subscribe(db.pool, payer, [50])],
    [
      'an active subscription',
      async (payer: Payer) => {
        await limitKey(db.pool, payer, 10);
        await subscribe(db.pool, payer, [50], { active: false });
      },
    ],
  ])('fires nothing without %s', async (_what, prepare) => {
    const payer = await createPayer(db.pool);
    await prepare(payer);
    expect(await fired(payer, { spend: '1000' })).toEqual([]);
  });

  test('notifies every subscription that lists what fired, once', async () => {
    const payer = await createPayer(db.pool);
    await limitKey(db.pool, payer, 10);
    const both = [await subscribe(db.pool, payer, [50]), await subscribe(db.pool, payer, [50, 80])];
    for (const spend of ['5', '6']) await fired(payer, { spend });
    const notified = await db.pool.query<{ id: string }>(
      'select subscription_id as id from alert_events where account_id = $1',
      [payer.accountId],
    );
    expect(notified.rows.map(({ id }) => id).sort()).toEqual([...both].sort());
  });

  test.each([
    ['below an armed threshold', '0.01', true, 1],
    ['below, by a call that was free', '0', true, 0],
    ['below one that has notified', '0.01', false, 0],
  ])('a balance: %s', async (_what, cost, armed, notified) => {
    const payer = await createPayer(db.pool, 0n);
    await db.pool.query(
      `update accounts set email = 'a@example.com', low_balance_threshold_usd = 1, low_balance_armed = $2 where id = $1`,
      [payer.accountId, armed],
    );
    for (const spend of ['1', '2']) await fired(payer, { spend, cost });
    const events = await db.pool.query(
      `select from alert_events where account_id = $1 and purpose = 'low_balance'`,
      [payer.accountId],
    );
    expect(events.rowCount).toBe(notified);
  });
});
