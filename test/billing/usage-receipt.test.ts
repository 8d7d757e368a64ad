import { randomUUID } from 'node:crypto';
import { newId } from '../../src/lib/ids.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { dataOf } from '../graphql/support.js';
import { recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';

/** One call as its caller looks it up. */
/** A UUIDv7 of that time. */
const uuidAt = (ms: number): string => {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`;
};

describe('the receipt of a call', () => {
  const suite = usePlatform();
  let token: string;
  let payer: { accountId: string; keyId: string };
  beforeAll(async () => {
    const { token: given, user } = await signUp(suite.url);
    token = given;
    const { keyId } = await createTestKey(suite.db, { accountId: user.id });
    payer = { accountId: user.id, keyId };
  });

  const flushed = async (changes: Partial<UsageRecord>): Promise<UsageRecord> => {
    const record = recordOf(payer, { createdAt: Date.now(), ...changes });
    await flushBatch(suite.db.pool, [record]);
    return record;
  };
  const receiptOf = (id: string, by = token) => call(suite.url, 'GET', `/api/usage/${id}`, { token: by });

  test('contains the call, the prices of that time and its charge', async () => {
    const { id } = await flushed({ ttftMs: 12, requestedModel: 'gateway/qwen-pro' });
    const { status, body } = await receiptOf(id);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        id,
        key_id: payer.keyId,
        requested_model: 'gateway/qwen-pro',
        ttft_ms: 12,
        cost_usd: '0.000250',
        ledger_entry_id: expect.any(String),
        balance_before_usd: '1.000000',
        balance_after_usd: '0.999750',
      }),
    ]);
    const { rows } = await suite.db.pool.query<{ price: string }>(
      'select trim_scale(price_in)::text as price from usage_events where id = $1',
      [id],
    );
    expect(Number((body as { input_price_per_million_usd: string }).input_price_per_million_usd)).toBe(
      Number(rows[0]!.price),
    );
    const { viewer } = await dataOf<{ viewer: { usageReceipt: object } }>(
      suite.url,
      `query ($id: ID!) { viewer { usageReceipt(id: $id) { balanceAfterUsd event { id apiKey { id } } } } }`,
      { token, variables: { id } },
    );
    expect(viewer.usageReceipt).toEqual({
      balanceAfterUsd: '0.999750',
      event: { id, apiKey: { id: payer.keyId } },
    });
  });

  test('of a failed call has no charge, and a call of weeks ago is found as well', async () => {
    const failed = await flushed({ status: 'error', errorCode: 'upstream_error', cost: 0n });
    expect((await receiptOf(failed.id)).body).toMatchObject({
      error_code: 'upstream_error',
      ledger_entry_id: null,
      balance_before_usd: null,
      balance_after_usd: null,
    });
    const weeksAgo = Date.now() - 20 * 86_400_000;
    const id = uuidAt(weeksAgo);
    await flushed({ id, createdAt: weeksAgo + 500 });
    expect((await receiptOf(id)).body).toMatchObject({ id, balance_before_usd: expect.any(String) });
  });

  test('names the ledger entry with its charge, before and after that is written', async () => {
    const { id } = await flushed({});
    const entryOf = async () => {
      const { body } = await call<{ ledger_entry_id: string }>(suite.url, 'GET', `/api/usage/${id}`, {
        token,
      });
      const { body: ledger } = await call<{ id: string; kind: string }[]>(
        suite.url,
        'GET',
        '/api/billing/ledger',
        { token },
      );
      expect(ledger[0]).toMatchObject({ id: body.ledger_entry_id, kind: 'usage' });
      return ledger[0];
    };
    const growing = await entryOf();
    await suite.db.pool.query('select post_charges(array[$1::uuid])', [payer.accountId]);
    expect(await entryOf()).toEqual({ ...growing, created_at: expect.any(String) });
  });

  test("isn't found for other accounts, nor for a malformed id", async () => {
    const { id } = await flushed({});
    const { token: stranger } = await signUp(suite.url);
    expect((await receiptOf(id, stranger)).status).toBe(404);
    for (const other of [newId(), randomUUID(), 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'nothing']) {
      expect([other, (await receiptOf(other)).status]).toEqual([other, 404]);
    }
  });
});
