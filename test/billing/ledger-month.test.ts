import { newId } from '../../src/lib/ids.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { rollUpAt } from '../analytics/support.js';
import { dataOf } from '../graphql/support.js';
import { recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { insertCredits } from './fixtures.js';

interface Month {
  charges: { date: string; calls: number; amountUsd: string }[];
  credits: { kind: string; amountUsd: string }[];
  creditsTruncated: boolean;
  hasOlder: boolean;
}

/** The ledger as people read it: a month, with the charges of a day as one. */
describe('a month of the ledger', () => {
  const suite = usePlatform({ own: true /* it rolls up what is there */ });
  let token: string;
  let accountId: string;
  const now = Date.now();
  const month = new Date(now).toISOString().slice(0, 7);
  beforeAll(async () => {
    const { token: given, user } = await signUp(suite.url);
    token = given;
    accountId = user.id;
    await call(suite.url, 'POST', '/api/billing/topup', { token, body: { amount_usd: 10 } });
    const own = (changes: Partial<UsageRecord>) =>
      recordOf({ accountId, keyId: newId() }, { createdAt: now, keyId: null, ...changes });
    await flushBatch(suite.db.pool, [
      own({}),
      own({ servedModel: 'gateway/qwen-pro' }),
      own({ status: 'error', errorCode: 'upstream_error', cost: 0n }),
    ]);
  });

  const read = async (of: string, as = token): Promise<Month> => {
    const { viewer } = await dataOf<{ viewer: { ledgerMonth: Month } }>(
      suite.url,
      `query ($month: String!) { viewer { ledgerMonth(month: $month) {
        charges { date calls amountUsd } credits { kind amountUsd } creditsTruncated hasOlder } } }`,
      { token: as, variables: { month: of } },
    );
    return viewer.ledgerMonth;
  };

  test('has one line for the charges of a day, and every credit, before and after roll-ups', async () => {
    const expected = {
      charges: [{ date: new Date(now).toISOString().slice(0, 10), calls: 2, amountUsd: '-0.000500' }],
      credits: [
        { kind: 'TOPUP', amountUsd: '10.000000' },
        { kind: 'STARTER', amountUsd: '1.000000' },
      ],
      creditsTruncated: false,
      hasOlder: false,
    };
    expect(await read(month)).toEqual(expected);
    await rollUpAt(suite.db, now + 2 * 3_600_000);
    expect(await read(month)).toEqual(expected);
  });

  test('of another time is empty, and says whether there are earlier entries', async () => {
    const nothing = { charges: [], credits: [], creditsTruncated: false };
    expect(await read('2020-01')).toEqual({ ...nothing, hasOlder: false });
    expect(await read('2099-12')).toEqual({ ...nothing, hasOlder: true });
  });

  test('lists the newest 500 credits, and says whether there are more', async () => {
    const { token: rich, user } = await signUp(suite.url);
    await insertCredits(suite.db, user.id, 499);
    expect(await read(month, rich)).toMatchObject({ creditsTruncated: false });
    await insertCredits(suite.db, user.id, 1);
    const { credits, creditsTruncated } = await read(month, rich);
    expect([credits.length, creditsTruncated]).toEqual([500, true]);
    expect(credits.map(({ kind }) => kind)).not.toContain('STARTER');
  });

  test.each([
    ['', ['usage', 'topup', 'starter']],
    ['?kind=credits', ['topup', 'starter']],
    ['?kind=charges', ['usage']],
  ])('is exported entry by entry%s, amounts as numbers', async (query, kinds) => {
    const { status, text } = await call(suite.url, 'GET', `/api/billing/ledger.csv${query}`, { token });
    expect(status).toBe(200);
    const [head, ...lines] = text.trimEnd().split('\r\n');
    expect(head).toBe('id,kind,amount_usd,balance_after_usd,description,event_id,created_at,calls');
    expect(lines.map((line) => line.split(',')[1])).toEqual(kinds);
    const charged = lines.filter((line) => line.includes(',usage,'));
    expect(charged.every((line) => line.split(',')[2] === '-0.000500')).toBe(true);
  });

  test('that is invalid is refused', async () => {
    const { status } = await call(suite.url, 'GET', '/api/billing/ledger.csv?kind=nothing', { token });
    expect(status).toBe(422);
  });
});
