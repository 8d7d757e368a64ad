import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { outlookOf } from '../../src/services/billing/outlook.rules.js';
import { createOutlookService } from '../../src/services/billing/outlook.service.js';
import { createPayer, recordOf } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { contextOf } from './fixtures.js';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2030, 0, 20, 12);
const facts = { lastCredit: 100n * DOLLAR, spent: 0n, sinceMs: NOW - 6 * DAY_MS, nowMs: NOW };

describe('how long a balance lasts', () => {
  test.each([
    ['a fifth of the last credit', 20n * DOLLAR, 'fine'],
    ['less than a fifth', 20n * DOLLAR - 1n, 'low'],
    ['the floor', DOLLAR / 1000n, 'low'],
    ['less than the floor', DOLLAR / 1000n - 1n, 'stopped'],
    ['a debt', -DOLLAR, 'stopped'],
  ])('%s', (_what, balance, state) => expect(outlookOf({ ...facts, balance }).state).toBe(state));

  test('low begins at a dollar if no credit is known', () => {
    const state = (balance: bigint) => outlookOf({ ...facts, lastCredit: null, balance }).state;
    expect([state(DOLLAR), state(DOLLAR - 1n)]).toEqual(['fine', 'low']);
  });

  test('days left follow from the average spend; less than three are low', () => {
    const at = (balance: bigint) => outlookOf({ ...facts, lastCredit: DOLLAR, spent: 12n * DOLLAR, balance });
    expect(at(24n * DOLLAR)).toMatchObject({ days_left: 12, daily_spend_usd: '2.000000', state: 'fine' });
    expect(at(5n * DOLLAR)).toMatchObject({ days_left: 2.5, state: 'low' });
    expect(at(10_000n * DOLLAR).days_left).toBeNull();
    expect(outlookOf({ ...facts, balance: DOLLAR }).days_left).toBeNull();
  });

  test('the first hours count as a day', () => {
    const spent = { ...facts, balance: 50n * DOLLAR, spent: DOLLAR, sinceMs: NOW - 3_600_000 };
    expect(outlookOf(spent)).toMatchObject({ days_left: 50, daily_spend_usd: '1.000000' });
  });
});

describe('the outlook of an account', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test("measures against the last top-up, and counts calls of the last week that aren't rolled up yet", async () => {
    const payer = await createPayer(db.pool, 100n * DOLLAR);
    const context = contextOf(db, payer.accountId, () => NOW);
    const outlook = createOutlookService();
    expect(await outlook.outlook(context)).toMatchObject({ state: 'fine', days_left: null });
    const old = recordOf(payer, { createdAt: NOW - 7 * DAY_MS, cost: 40n * DOLLAR });
    const recent = [3, 1].map((days) =>
      recordOf(payer, { createdAt: NOW - days * DAY_MS, cost: 7n * DOLLAR }),
    );
    await flushBatch(db.pool, [old, ...recent]);
    await createBillingService('mock').topUp(context, { amount_usd: 500 });
    expect(await outlook.outlook(context)).toEqual({
      state: 'fine',
      balance_usd: '546.000000',
      last_credit_usd: '500.000000',
      daily_spend_usd: '4.000000',
      days_left: 136.5,
    });
  });
});
