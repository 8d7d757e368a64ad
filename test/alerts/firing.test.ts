import { newId } from '../../src/lib/ids.js';
import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createPayer, flushWhenFree, type Payer } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { addKey, callOf, eventsOf, firingsOf, limitKey, subscribe } from './support.js';

const NOW = Date.UTC(2026, 10, 21, 12);
const MONTH = '2026-11';

describe('a threshold of a key', () => {
  let db: TestDatabase;
  let payer: Payer;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    payer = await createPayer(db.pool);
    await limitKey(db.pool, payer, 1);
  });
  afterAll(() => db.close());

  const call = (cents: number, changes: Partial<UsageRecord> = {}): UsageRecord =>
    callOf(payer, cents, { createdAt: NOW, ...changes });
  const flush = (...records: UsageRecord[]) => flushWhenFree(db.pool, records);
  const fired = () => firingsOf(db.pool, payer);
  const events = () => eventsOf(db.pool, payer);

  test('fires when its amount is reached exactly, and not a cent earlier', async () => {
    await subscribe(db.pool, payer, [50]);
    expect((await flush(call(49))).alerted).toEqual([]);
    expect(await fired()).toEqual([]);
    expect((await flush(call(1))).alerted).toEqual([payer.accountId]);
    expect(await fired()).toEqual([`${MONTH} 50`]);
  });

  test('records the key, the percentage, the month and the amounts at that time', async () => {
    const subscription = await subscribe(db.pool, payer, [50]);
    await flush(call(62));
    expect(await events()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        subscription_id: subscription,
        purpose: 'threshold',
        kind: 'webhook',
        destination: 'https://hooks.example.com/x',
        key_name: 'key',
        key_prefix: 'sk-pr-abcd…wxyz',
        threshold_pct: 50,
        billing_month: MONTH,
        spend: '0.62',
        monthly_limit: '1',
        balance: null,
        delivery_status: 'pending',
        error_message: null,
      },
    ]);
  });

  test('fires once a month, however often it is reached again', async () => {
    await subscribe(db.pool, payer, [50]);
    for (let n = 0; n < 3; n++) await flush(call(60));
    await limitKey(db.pool, payer, 100);
    await flush(call(1));
    await limitKey(db.pool, payer, 2);
    await flush(call(1));
    expect(await events()).toHaveLength(1);
    await flush(call(100, { createdAt: Date.UTC(2026, 11, 1) }));
    expect(await fired()).toEqual(['2026-11 50', '2026-12 50']);
    expect(await events()).toHaveLength(2);
  });

  test('several reached at once are in ascending order, with the highest as the newest', async () => {
    await subscribe(db.pool, payer, [80, 20, 100, 60, 40]);
    await flush(call(100));
    const { rows } = await db.pool.query<{ pct: number }>(
      'select threshold_pct as pct from alert_events where key_id = $1 order by fired_at desc, id desc',
      [payer.keyId],
    );
    expect(rows.map(({ pct }) => pct)).toEqual([100, 80, 60, 40, 20]);
  });

  test('several reached by one call create one event for each subscription that lists them', async () => {
    const [first, second] = [
      await subscribe(db.pool, payer, [10, 50, 100]),
      await subscribe(db.pool, payer, [50, 99], { kind: 'email' }),
    ];
    await flush(call(99));
    expect(await fired()).toEqual([`${MONTH} 10`, `${MONTH} 50`, `${MONTH} 99`]);
    expect(
      (await events()).map(({ threshold_pct, subscription_id }) => [threshold_pct, subscription_id]),
    ).toEqual([
      [10, first],
      [50, first],
      [50, second],
      [99, second],
    ]);
    await flush(call(1));
    expect((await events()).at(-1)).toMatchObject({ threshold_pct: 100, spend: '1' });
  });

  test("that has fired doesn't notify a later subscription until the next month", async () => {
    await subscribe(db.pool, payer, [50]);
    await flush(call(60));
    const late = await subscribe(db.pool, payer, [50, 60]);
    await flush(call(1));
    const reported = (await events()).filter(({ subscription_id }) => subscription_id === late);
    expect(reported.map(({ threshold_pct }) => threshold_pct)).toEqual([60]);
    await flush(call(60, { createdAt: Date.UTC(2026, 11, 2) }));
    expect((await events()).filter(({ subscription_id }) => subscription_id === late)).toHaveLength(3);
  });

  test("of a disabled subscription doesn't fire, and fires at the next call once it is enabled", async () => {
    const subscription = await subscribe(db.pool, payer, [50], { active: false });
    await flush(call(60));
    expect(await fired()).toEqual([]);
    await db.pool.query('update alert_subscriptions set active = true where id = $1', [subscription]);
    await flush(call(0));
    expect(await fired()).toEqual([`${MONTH} 50`]);
  });

  test('belongs to the month in which the call ended, to the millisecond', async () => {
    await subscribe(db.pool, payer, [50]);
    const edge = Date.UTC(2026, 11, 1);
    await flush(call(30, { createdAt: edge - 1 }), call(30, { createdAt: edge }));
    expect(await fired()).toEqual([]);
    await flush(call(20, { createdAt: edge }));
    expect(await fired()).toEqual(['2026-12 50']);
    // Written late, as by whoever finds a dead edge's spool.
    await flush(call(20, { createdAt: edge - 2 }));
    expect(await fired()).toEqual(['2026-11 50', '2026-12 50']);
    expect((await events()).map(({ spend }) => spend)).toEqual(['0.5', '0.5']);
  });

  test("doesn't exist without a limit", async () => {
    await limitKey(db.pool, payer, null);
    await subscribe(db.pool, payer, [1]);
    await flush(call(500));
    expect(await fired()).toEqual([]);
  });

  test('of a limit of zero is reached by the first call', async () => {
    await limitKey(db.pool, payer, 0);
    await subscribe(db.pool, payer, [1, 100]);
    await flush(call(0));
    expect(await fired()).toEqual([`${MONTH} 1`, `${MONTH} 100`]);
  });

  test('reached by lowering the limit fires at the next successful call, even a free one', async () => {
    await subscribe(db.pool, payer, [50]);
    await flush(call(40));
    await limitKey(db.pool, payer, 0.5);
    await flush(call(0, { status: 'error', cost: 0n, errorCode: 'upstream_error', httpStatus: 502 }));
    expect(await fired()).toEqual([]);
    await flush(call(0));
    expect(await fired()).toEqual([`${MONTH} 50`]);
    expect(await events()).toMatchObject([{ spend: '0.4', monthly_limit: '0.5' }]);
  });

  test("is of its own key: calls of widgets and of other keys don't count", async () => {
    await subscribe(db.pool, payer, [1]);
    const other = await addKey(db.pool, payer);
    await limitKey(db.pool, other, 1);
    await flush(call(90, { keyId: null, widgetId: newId() }), callOf(other, 90, { createdAt: NOW }));
    expect(await fired()).toEqual([]);
  });

  test('fires for embeddings and streams alike', async () => {
    await subscribe(db.pool, payer, [1, 2]);
    await flush(call(1, { endpoint: 'embeddings' }));
    await flush(call(1, { stream: true, clientAborted: true }));
    expect(await fired()).toEqual([`${MONTH} 1`, `${MONTH} 2`]);
  });

  test('a batch that is sent again fires nothing, whatever was subscribed in the meantime', async () => {
    await subscribe(db.pool, payer, [50]);
    const records = [call(30), call(30)];
    await flush(...records);
    await subscribe(db.pool, payer, [60]);
    await flush(...records);
    // A new error of the same key among them, and a new event of another.
    await flush(
      ...records,
      call(0, { status: 'error', cost: 0n, errorCode: 'upstream_error', httpStatus: 502 }),
    );
    const other = await addKey(db.pool, payer);
    await flush(...records, callOf(other, 1, { createdAt: NOW }));
    expect(await fired()).toEqual([`${MONTH} 50`]);
    expect(await events()).toHaveLength(1);
  });

  test('two edges that write at once, and one that replays them, fire each once', async () => {
    await subscribe(db.pool, payer, [20, 40, 60, 80, 100]);
    await subscribe(db.pool, payer, [20, 100], { kind: 'email' });
    const records = Array.from({ length: 60 }, () => call(2));
    const batches = Array.from({ length: 12 }, (_, n) => records.slice(n * 5, n * 5 + 5));
    await Promise.all([...batches, ...batches, ...batches].map((batch) => flush(...batch)));
    expect(await fired()).toEqual([20, 40, 60, 80, 100].map((percent) => `${MONTH} ${percent}`));
    expect(await events()).toHaveLength(7);
  });

  test('an account fires 300 deliveries an hour; further ones are recorded and not sent', async () => {
    await subscribe(db.pool, payer, [20, 40, 60, 80]);
    await subscribe(db.pool, payer, [40], { kind: 'email' });
    await flush(call(20));
    await db.pool.query(
      `insert into alert_events (id, account_id, key_id, subscription_id, purpose, kind, destination, fired_at,
         pending_since, next_attempt_at)
       select gen_random_uuid(), account_id, null, null, 'low_balance', 'email', destination, now(), now(), now()
       from alert_events, generate_series(1, 298) where account_id = $1`,
      [payer.accountId],
    );
    const ofThresholds = async () => (await events()).filter(({ purpose }) => purpose === 'threshold');
    await flush(call(25));
    const statuses = async () =>
      (await ofThresholds()).map((event) => [event.threshold_pct, event.delivery_status]);
    // The 300th goes out, and the 301st doesn't.
    const forty = (await statuses()).filter(([percent, status]) => percent === 40 && status === 'pending');
    expect(forty).toHaveLength(1);
    await flush(call(20));
    expect((await ofThresholds()).find((event) => event.threshold_pct === 60)).toMatchObject({
      delivery_status: 'failed',
      error_message: 'Not sent: at most 300 alerts per account and hour are delivered.',
    });
    await db.pool.query(
      `update alert_events set fired_at = now() - interval '61 minutes' where account_id = $1`,
      [payer.accountId],
    );
    await flush(call(20));
    expect((await statuses()).at(-1)).toEqual([80, 'pending']);
  });

  test('a key that is deleted while its usage is written takes the alert along, and the usage stays', async () => {
    await subscribe(db.pool, payer, [50]);
    const client = await db.pool.connect();
    await client.query('begin');
    await client.query('delete from api_keys where id = $1', [payer.keyId]);
    const writing = flush(call(60));
    await client.query('commit');
    client.release();
    expect(await writing).toMatchObject({ inserted: 1 });
    expect(await events()).toHaveLength((await fired()).length);
  });

  test('a lost firing costs no usage, and nobody is notified twice', async () => {
    await subscribe(db.pool, payer, [50]);
    await flush(call(60));
    await db.pool.query('delete from threshold_firings where key_id = $1', [payer.keyId]);
    expect(await flush(call(1))).toMatchObject({ inserted: 1 });
    expect(await fired()).toEqual([`${MONTH} 50`]);
    expect(await events()).toHaveLength(1);
  });

  test('a subscription sends five emails a month per key; further ones are recorded as degraded', async () => {
    const subscription = await subscribe(db.pool, payer, [1, 2, 3, 4, 5], { kind: 'email' });
    await flush(call(4));
    await db.pool.query(`update alert_subscriptions set thresholds_pct = '{5,6,7}' where id = $1`, [
      subscription,
    ]);
    await flush(call(4));
    expect((await events()).map((event) => [event.threshold_pct, event.delivery_status])).toEqual([
      [1, 'pending'],
      [2, 'pending'],
      [3, 'pending'],
      [4, 'pending'],
      [5, 'pending'],
      [6, 'degraded'],
      [7, 'degraded'],
    ]);
    expect((await events()).at(-1)?.error_message).toContain(
      'Recorded, not emailed: a subscription sends at most 5 emails',
    );
  });
});

describe('a low balance', () => {
  let db: TestDatabase;
  let payer: Payer;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => {
    payer = await createPayer(db.pool, 2n * DOLLAR);
    await db.pool.query(
      `update accounts set email = 'ada@example.com', low_balance_threshold_usd = 1.5, low_balance_armed = true
       where id = $1`,
      [payer.accountId],
    );
  });
  afterAll(() => db.close());

  const flush = (...cents: number[]) =>
    flushBatch(
      db.pool,
      cents.map((n) => callOf(payer, n)),
    );

  test('sends one email when the balance falls below the threshold', async () => {
    expect((await flush(50)).alerted).toEqual([]);
    expect((await flush(10, 10)).alerted).toEqual([payer.accountId]);
    await flush(10);
    expect(await eventsOf(db.pool, payer)).toMatchObject([
      {
        purpose: 'low_balance',
        kind: 'email',
        destination: 'ada@example.com',
        balance: '1.3',
        key_name: null,
      },
    ]);
  });

  test('sends nothing for an account without a threshold, nor for a deleted one', async () => {
    const other = await createPayer(db.pool, DOLLAR);
    await db.pool.query('update accounts set email = null where id = $1', [payer.accountId]);
    expect((await flushBatch(db.pool, [callOf(other, 90), callOf(payer, 150)])).alerted).toEqual([]);
  });
});
