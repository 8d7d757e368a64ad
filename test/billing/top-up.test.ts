import pg from 'pg';
import { INVALIDATION_CHANNEL } from '../../src/db/invalidation.js';
import { idempotencyKeyInput, topUpInput } from '../../src/services/billing/billing.inputs.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { brokenLedgers, contextOf, insertAccount, ledgerOf } from './fixtures.js';

describe('top-up', () => {
  let db: TestDatabase;
  const billing = createBillingService('mock');
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test.each([10, 25, 50, 100, 500] as const)('$%d changes the balance at once', async (amount_usd) => {
    const context = contextOf(db, await insertAccount(db));
    const answer = {
      balance_usd: `${amount_usd}.000000`,
      plan_name: 'free',
      monthly_quota_tokens: null,
    };
    expect(await billing.topUp(context, { amount_usd })).toEqual(answer);
    expect(await billing.balance(context)).toEqual(answer);
  });

  test.each([
    [0],
    [11],
    [-10],
    [10.5],
    ['10.000000000001'],
    ['ten'],
    [null],
    [undefined],
    [Number.POSITIVE_INFINITY],
  ])('%p is refused as an amount', (amount_usd) =>
    expect(topUpInput.safeParse({ amount_usd }).success).toBe(false),
  );

  test('an unknown field is refused', () =>
    expect(topUpInput.safeParse({ amount_usd: 10, currency: 'EUR' }).success).toBe(false));

  test.each([
    ['', false],
    [' ', false],
    ['a b', false],
    ['schlüssel', false],
    ['a'.repeat(256), false],
    ['a'.repeat(255), true],
    ['0f9c:~!', true],
  ])('key %p: accepted is %p', (key, accepted) =>
    expect(idempotencyKeyInput.safeParse(key).success).toBe(accepted),
  );

  test('without a key, every call is a new top-up', async () => {
    const accountId = await insertAccount(db);
    const context = contextOf(db, accountId);
    await billing.topUp(context, { amount_usd: 10 });
    expect(await billing.topUp(context, { amount_usd: 10 })).toMatchObject({ balance_usd: '20.000000' });
    expect(await ledgerOf(db, accountId)).toHaveLength(2);
  });

  test('20 concurrent calls with one key create one entry and one response', async () => {
    const accountId = await insertAccount(db);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        billing.topUp(contextOf(db, accountId), { amount_usd: 25, idempotencyKey: 'once' }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.balance_usd))).toEqual(new Set(['25.000000']));
    expect(await ledgerOf(db, accountId)).toEqual([
      { seq: '1', kind: 'topup', amount: '25', balance_after: '25', idempotency_key: 'topup:once' },
    ]);
    expect(await brokenLedgers(db)).toEqual([]);
  });

  test('a repetition gets the first response although the balance has changed since', async () => {
    const context = contextOf(db, await insertAccount(db));
    const first = await billing.topUp(context, { amount_usd: 10, idempotencyKey: 'k' });
    await billing.topUp(context, { amount_usd: 50 });
    expect(await billing.topUp(context, { amount_usd: 10, idempotencyKey: 'k' })).toEqual(first);
    expect(await billing.balance(context)).toMatchObject({ balance_usd: '60.000000' });
  });

  test('the same key with another amount conflicts and changes nothing', async () => {
    const accountId = await insertAccount(db);
    const context = contextOf(db, accountId);
    await billing.topUp(context, { amount_usd: 10, idempotencyKey: 'k' });
    await expect(billing.topUp(context, { amount_usd: 25, idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await ledgerOf(db, accountId)).toHaveLength(1);
  });

  test("a caller's key can't take the place of a grant", async () => {
    const accountId = await insertAccount(db, { plan: 'pro' });
    const now = Date.UTC(2026, 10, 21);
    const context = contextOf(db, accountId, () => now);
    await billing.topUp(context, { amount_usd: 10, idempotencyKey: `grant:${accountId}:pro:2026-11` });
    expect(await billing.grantMonthlyCredits(contextOf(db, null, () => now))).toMatchObject({ granted: 1 });
  });

  test('edges are notified after the commit, once per change', async () => {
    const accountId = await insertAccount(db);
    const client = new pg.Client({ connectionString: db.url });
    await client.connect();
    const heard: string[] = [];
    client.on('notification', (message) => heard.push(message.payload ?? ''));
    await client.query(`listen ${INVALIDATION_CHANNEL}`);
    try {
      const context = contextOf(db, accountId);
      await billing.topUp(context, { amount_usd: 10, idempotencyKey: 'k' });
      await billing.topUp(context, { amount_usd: 10, idempotencyKey: 'k' });
      await db.pool.query(`select pg_notify('${INVALIDATION_CHANNEL}', 'end')`);
      await until(() => heard.includes('end'));
      expect(heard).toEqual([`account:${accountId}`, 'end']);
    } finally {
      await client.end();
    }
  });

  test('is refused without a session', async () => {
    await expect(billing.topUp(contextOf(db, null), { amount_usd: 10 })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await expect(billing.balance(contextOf(db, null))).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
