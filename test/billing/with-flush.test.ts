import { newId } from '../../src/lib/ids.js';
import { pricePerToken } from '../../src/lib/money.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createBillingService } from '../../src/services/billing/billing.service.js';
import { flushWhenFree } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { contextOf, insertAccount } from './fixtures.js';

const NOW = Date.UTC(2026, 10, 30, 23, 0, 0);
const ROUNDS = 12;
const BATCH = 40;

function record(accountId: string, keyId: string, at: number): UsageRecord {
  const priceIn = pricePerToken('0.1');
  return {
    id: newId(),
    accountId,
    keyId,
    widgetId: null,
    requestedModel: 'gateway/fast',
    servedModel: 'gateway/fast',
    endpoint: 'chat',
    stream: false,
    createdAt: at,
    inputTokens: 7,
    outputTokens: 3,
    priceIn,
    priceOut: pricePerToken('0.3'),
    cost: 7n * priceIn + 3n * pricePerToken('0.3'),
    latencyMs: 5,
    ttftMs: null,
    status: 'success',
    errorCode: null,
    httpStatus: 200,
    clientAborted: false,
    estimated: false,
    anomalous: false,
    promptVersionId: null,
    deployment: null,
    nodeId: null,
    nodeCalls: null,
    errorMessage: null,
    movedTo: null,
  };
}

describe('billing while usage is written', () => {
  let db: TestDatabase;
  const billing = createBillingService('mock');
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test('concurrent top-ups, grants and charges of the same accounts keep every invariant, and every page is consistent', async () => {
    const accounts = await Promise.all(Array.from({ length: 4 }, () => insertAccount(db, { plan: 'pro' })));
    const keys = accounts.map(() => newId());
    for (const id of accounts) await billing.topUp(contextOf(db, id), { amount_usd: 10 });
    const pick = (index: number) => (index * 7) % accounts.length;
    const flushes = async (lane: number) => {
      for (let round = 0; round < ROUNDS; round++) {
        const batch = Array.from({ length: BATCH }, (_, index) =>
          record(accounts[pick(index + lane)]!, keys[pick(index + lane)]!, NOW + round * 600_000 + index),
        );
        await flushWhenFree(db.pool, lane % 2 === 0 ? batch : batch.reverse());
      }
    };
    const topUps = async (accountId: string) => {
      for (let round = 0; round < ROUNDS; round++) {
        await billing.topUp(contextOf(db, accountId), { amount_usd: 10, idempotencyKey: `round ${round}` });
      }
    };
    const grants = async () => {
      for (let round = 0; round < 4; round++) {
        await billing.grantMonthlyCredits(contextOf(db, null, () => NOW));
      }
    };
    const pages = async (accountId: string) => {
      const seen: number[] = [];
      for (let round = 0; round < ROUNDS * 2; round++) {
        const { items, total } = await billing.usage(contextOf(db, accountId), { limit: 30, offset: 20 });
        expect(items).toHaveLength(Math.max(0, Math.min(30, total - 20)));
        seen.push(total);
      }
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
    };
    await Promise.all([
      ...[0, 1, 2, 3].map(flushes),
      ...accounts.map(topUps),
      ...accounts.map(pages),
      grants(),
      grants(),
    ]);
    // The next run grants what a busy machine kept locked for long.
    await grants();
    expect(await checkInvariants(db.pool)).toEqual([]);
    const context = contextOf(db, accounts[0]!);
    expect((await billing.usage(context, { limit: 1, offset: 0 })).total).toBe(ROUNDS * BATCH);
    const newest = await billing.ledger(context, { limit: 500, offset: 0 });
    expect(newest[0]!.balance_after_usd).toBe((await billing.balance(context)).balance_usd);
    // The first top-up, those of the rounds, one grant, and between them the charges.
    expect(newest.filter(({ kind }) => kind !== 'usage')).toHaveLength(1 + ROUNDS + 1);
    expect(newest.reduce((sum, { calls }) => sum + (calls ?? 0), 0)).toBe(ROUNDS * BATCH);
  });
});
