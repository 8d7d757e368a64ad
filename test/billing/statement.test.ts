import { newId } from '../../src/lib/ids.js';
import { formatMoney, parseMoney } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { rollUpAt } from '../analytics/support.js';
import { dataOf } from '../graphql/support.js';
import { recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

interface Statement {
  opening_balance_usd: string;
  credits_usd: string;
  charges_usd: string;
  closing_balance_usd: string;
  by_day: { date: string; calls: number; charges_usd: string; credits_usd: string }[];
  by_model: object[];
  by_key: object[];
}

/** A month that is over, and the one after it. */
const NOW = Date.UTC(2026, 11, 5, 12);
const MONTH = '2026-11';
const LAST_INSTANT = Date.UTC(2026, 11, 1) - 1;

describe('the statement of a month', () => {
  const suite = usePlatform({ own: true /* a clock of its own */, clock: { now: () => NOW } });
  let token: string;
  let accountId: string;
  let keyId: string;
  beforeAll(async () => {
    const { token: given, user } = await signUp(suite.url);
    token = given;
    accountId = user.id;
    const { body } = await call<{ api_key: { id: string } }>(suite.url, 'POST', '/api/keys', {
      token,
      body: { name: 'batch' },
    });
    keyId = body.api_key.id;
    await call(suite.url, 'POST', '/api/billing/topup', { token, body: { amount_usd: 10 } });
    const record = (changes: Partial<UsageRecord>) =>
      recordOf({ accountId, keyId }, { createdAt: Date.UTC(2026, 10, 21, 12), ...changes });
    await flushBatch(suite.db.pool, [
      record({ cost: 300_000_000_001n }),
      record({ cost: 200n, createdAt: LAST_INSTANT, servedModel: 'gateway/qwen-pro', keyId: null }),
      record({ status: 'error', errorCode: 'upstream_error', cost: 0n, createdAt: Date.UTC(2026, 10, 3) }),
      // Of the month behind it.
      record({ cost: 5n, createdAt: LAST_INSTANT + 1 }),
    ]);
  });

  const read = async (path: string) =>
    (await call<Statement>(suite.url, 'GET', `/api/billing/statements/${path}`, { token })).body;

  const expected = {
    month: MONTH,
    opening_balance_usd: '0.000000',
    credits_usd: '0.000000',
    charges_usd: '0.300000000201',
    closing_balance_usd: '-0.300000000201',
    by_day: [
      { date: '2026-11-21', calls: 1, charges_usd: '0.300000000001', credits_usd: '0.000000' },
      { date: '2026-11-30', calls: 1, charges_usd: '0.0000000002', credits_usd: '0.000000' },
    ],
    by_model: [
      { model_public_name: 'gateway/fast', charges_usd: '0.300000000001' },
      { model_public_name: 'gateway/qwen-pro', charges_usd: '0.0000000002' },
    ],
    by_key: [
      { name: 'batch', calls: 1, charges_usd: '0.300000000001' },
      { key_id: null, name: null, calls: 1, charges_usd: '0.0000000002' },
    ],
  };

  test('contains its balances, and charges and credits between them by day, model and key, before and after roll-ups', async () => {
    expect(await read(MONTH)).toMatchObject(expected);
    await rollUpAt(suite.db, NOW);
    expect(await read(MONTH)).toMatchObject(expected);
  });

  test("opens with the previous month's closing balance, and closes with today's", async () => {
    const [before, now] = [await read(MONTH), await read('2026-12')];
    expect(now.opening_balance_usd).toBe(before.closing_balance_usd);
    expect(now).toMatchObject({ credits_usd: '11.000000', charges_usd: '0.000000000005' });
    const balance = await call<{ balance_usd: string }>(suite.url, 'GET', '/api/billing/balance', { token });
    expect(now.closing_balance_usd).toBe(balance.body.balance_usd);
    const { rows } = await suite.db.pool.query<{ sum: string }>(
      `select (sum(amount) - (select sum(cost) from calls where account_id = $1))::text as sum from ledger_entries
       where account_id = $1 and kind <> 'usage'`,
      [accountId],
    );
    expect(parseMoney(now.closing_balance_usd)).toBe(parseMoney(rows[0]!.sum));
  });

  test('still names a key that was deleted since', async () => {
    await call(suite.url, 'DELETE', `/api/keys/${keyId}`, { token });
    expect((await read(MONTH)).by_key[0]).toMatchObject({ key_id: keyId, name: 'batch' });
  });

  test('is available as CSV, whose lines lead from one balance to the other', async () => {
    const { text, headers } = await call(suite.url, 'GET', '/api/billing/statements/2026-12.csv', { token });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="statement-2026-12.csv"');
    const lines = text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    expect(lines[0]).toEqual(['date', 'description', 'calls', 'amount_usd', 'balance_usd']);
    const amounts = lines.slice(2, -1).reduce((sum, line) => sum + parseMoney(line[3]!), 0n);
    expect(formatMoney(parseMoney(lines[1]![4]!) + amounts)).toBe(lines.at(-1)![4]);
    expect(lines.slice(1).map((line) => line[1])).toEqual([
      'Opening balance',
      'Charges for calls',
      'Credits',
      // The month isn't over.
      'Balance so far',
    ]);
    const over = await call(suite.url, 'GET', `/api/billing/statements/${MONTH}.csv`, { token });
    expect(over.text.trimEnd().split('\r\n').at(-1)).toBe(`${MONTH},Closing balance,,,-0.300000000201`);
  });

  test('is the same over GraphQL', async () => {
    const { viewer } = await dataOf<{ viewer: { statement: object } }>(
      suite.url,
      `{ viewer { statement(month: "${MONTH}") { openingBalanceUsd creditsUsd chargesUsd closingBalanceUsd
        byDay { date calls } byModel { modelPublicName } byKey { keyId } } } }`,
      { token },
    );
    expect(viewer.statement).toMatchObject({
      openingBalanceUsd: '0.000000',
      chargesUsd: '0.300000000201',
      byDay: [{ date: '2026-11-21', calls: 1 }, { date: '2026-11-30' }],
      byModel: [{ modelPublicName: 'gateway/fast' }, {}],
      byKey: [{ keyId }, { keyId: null }],
    });
  });

  test.each([
    ['2027-01', 404, 'This month has not begun.'],
    ['2024-01', 404, 'Statements are kept for 26 months.'],
  ])('of %s is not found, with the reason', async (month, status, message) => {
    const answer = await call<{ error: { message: string } }>(
      suite.url,
      'GET',
      `/api/billing/statements/${month}`,
      { token },
    );
    expect([answer.status, answer.body.error.message]).toEqual([status, message]);
  });

  test.each(['2026-13', '2026-1', 'november', '2026-11.pdf', newId()])('of %s is refused', async (month) => {
    const { status } = await call(suite.url, 'GET', `/api/billing/statements/${month}`, { token });
    expect(status).toBe(422);
  });

  test('of an account without calls has its credits', async () => {
    const other = await signUp(suite.url);
    const { body } = await call<Statement>(suite.url, 'GET', '/api/billing/statements/2026-12', {
      token: other.token,
    });
    expect(body).toMatchObject({ charges_usd: '0.000000', by_model: [], by_key: [] });
    const days = body.by_day.reduce((sum, day) => sum + parseMoney(day.credits_usd), 0n);
    expect(formatMoney(days)).toBe(body.credits_usd);
  });
});
