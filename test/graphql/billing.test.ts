import { flushBatch } from '../../src/metering/flush.store.js';
import { recordOf } from '../metering/support.js';
import { call, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { codesOf, dataOf, operate } from './support.js';

const TOP_UP = `mutation ($input: TopUpInput!) { topUp(input: $input) {
  balanceUsd planName monthlyQuotaTokens viewer { balanceUsd } } }`;
const USAGE = `query ($first: Int, $after: String) { viewer { usageEvents(first: $first, after: $after) {
  totalCount nodes { id costUsd createdAt keyId modelPublicName endpoint status model { family } apiKey { name } }
  pageInfo { hasNextPage endCursor } } } }`;
const LEDGER = `query ($first: Int, $after: String) { viewer { ledgerEntries(first: $first, after: $after) {
  totalCount nodes { id kind amountUsd balanceAfterUsd description eventId createdAt calls usageEvent { id costUsd } }
  pageInfo { hasNextPage endCursor } } } }`;

interface List<Node> {
  totalCount: number;
  nodes: Node[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}
interface Usage {
  viewer: { usageEvents: List<{ id: string; costUsd: string; apiKey: { name: string } | null }> };
}
interface Ledger {
  viewer: {
    ledgerEntries: List<{
      id: string;
      kind: string;
      amountUsd: string;
      calls: number | null;
      usageEvent: { id: string; costUsd: string } | null;
    }>;
  };
}

describe('billing', () => {
  const suite = usePlatform();

  test('plans and models are public, the same as over REST', async () => {
    const data = await dataOf<{ plans: unknown[]; models: { modelPublicName: string }[] }>(
      suite.url,
      `{ plans { name monthlyPriceUsd includedCreditsUsd allowedModels requestsPerMinute }
         models { modelPublicName family contextWindow inputPricePerMillionUsd outputPricePerMillionUsd isFeatured } }`,
    );
    const camel = (text: string): string =>
      text.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
    for (const [list, path] of [
      [data.plans, '/api/plans'],
      [data.models, '/api/models'],
    ] as const) {
      const rest = await call<Record<string, unknown>[]>(suite.url, 'GET', path);
      const renamed = rest.body.map((item) =>
        Object.fromEntries(Object.entries(item).map(([name, value]) => [camel(name), value])),
      );
      expect(list).toEqual(renamed);
    }
    expect([data.plans.length, data.models.length]).toEqual([5, 6]);
  });

  test('topUp adds credit, and the account in the same response has it', async () => {
    const { token } = await signUp(suite.url);
    const data = await dataOf(suite.url, TOP_UP, { token, variables: { input: { amountUsd: 25 } } });
    expect(data).toEqual({
      topUp: {
        balanceUsd: '26.000000',
        planName: 'free',
        monthlyQuotaTokens: null,
        viewer: { balanceUsd: '26.000000' },
      },
    });
  });

  test('two top-ups in one document each show the account after them', async () => {
    const { token } = await signUp(suite.url);
    const data = await dataOf(
      suite.url,
      `mutation { a: topUp(input: { amountUsd: 10 }) { viewer { balanceUsd } }
                  b: topUp(input: { amountUsd: 25 }) { viewer { balanceUsd } } }`,
      { token },
    );
    expect(data).toEqual({
      a: { viewer: { balanceUsd: '11.000000' } },
      b: { viewer: { balanceUsd: '36.000000' } },
    });
  });

  test('topUp with an idempotency key adds credit once, even if REST repeats it', async () => {
    const { token } = await signUp(suite.url);
    const variables = { input: { amountUsd: 10, idempotencyKey: 'once' } };
    const first = await dataOf(suite.url, TOP_UP, { token, variables });
    expect(await dataOf(suite.url, TOP_UP, { token, variables })).toEqual(first);
    const rest = await call<{ balance_usd: string }>(suite.url, 'POST', '/api/billing/topup', {
      token,
      body: { amount_usd: 10 },
      headers: { 'idempotency-key': 'once' },
    });
    expect(rest.body.balance_usd).toBe('11.000000');
    const other = await operate(suite.url, TOP_UP, {
      token,
      variables: { input: { amountUsd: 25, idempotencyKey: 'once' } },
    });
    expect(codesOf(other)).toEqual(['idempotency_conflict']);
  });

  test('topUp treats a null idempotency key as omitted', async () => {
    const { token } = await signUp(suite.url);
    const variables = { input: { amountUsd: 10, idempotencyKey: null } };
    expect(await dataOf(suite.url, TOP_UP, { token, variables })).toMatchObject({
      topUp: { balanceUsd: '11.000000' },
    });
    expect(await dataOf(suite.url, TOP_UP, { token, variables })).toMatchObject({
      topUp: { balanceUsd: '21.000000' },
    });
  });

  test.each([
    [{ amountUsd: 11 }, 'amountUsd'],
    [{ amountUsd: -10 }, 'amountUsd'],
    [{ amountUsd: 10, idempotencyKey: '' }, 'idempotencyKey'],
    [{ amountUsd: 10, idempotencyKey: 'with space' }, 'idempotencyKey'],
    [{ amountUsd: '10' }, 'amountUsd'],
    [{ amountUsd: 10.5 }, 'amountUsd'],
    [{ amountUsd: 10, accountId: 'another' }, 'accountId'],
    [{ amountUsd: null }, 'amountUsd'],
    [{}, 'amountUsd'],
    [[], 'input'],
    [undefined, 'input'],
  ] as [unknown, string][])('topUp refuses %j by its field', async (input, field) => {
    const { token } = await signUp(suite.url);
    const answer = await operate(suite.url, TOP_UP, { token, variables: { input } });
    const { code, details } = answer.body.errors![0]!.extensions;
    expect([code, details?.map((detail) => detail.field)]).toEqual(['validation_error', [field]]);
  });

  test('usageEvents pages by cursor while new calls arrive; each has its key and its model', async () => {
    const { token, user } = await signUp(suite.url);
    const { keyId } = await createTestKey(suite.db, { accountId: user.id });
    const record = (changes = {}) => recordOf({ accountId: user.id, keyId }, changes);
    const at = Date.now();
    // Three of the same millisecond: the id decides.
    const records = [at - 5, at - 4, at - 3, at - 3, at - 3, at - 2].map((createdAt) =>
      record({ createdAt }),
    );
    await flushBatch(suite.db.pool, records);
    const seen: Usage['viewer']['usageEvents']['nodes'] = [];
    let after: string | undefined;
    for (let page = 0; ; page++) {
      const { viewer } = await dataOf<Usage>(suite.url, USAGE, { token, variables: { first: 2, after } });
      expect(viewer.usageEvents.totalCount).toBe(6 + page);
      seen.push(...viewer.usageEvents.nodes);
      if (!viewer.usageEvents.pageInfo.hasNextPage) break;
      after = viewer.usageEvents.pageInfo.endCursor;
      await flushBatch(suite.db.pool, [record()]);
    }
    const expected = records.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    expect(seen.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(seen[0]).toMatchObject({
      costUsd: '0.000250',
      keyId,
      endpoint: 'CHAT',
      status: 'SUCCESS',
      model: { family: 'gemma' },
      apiKey: { name: 'test' },
    });
    await suite.db.pool.query('delete from api_keys where id = $1', [keyId]);
    const gone = await dataOf<Usage>(suite.url, USAGE, { token, variables: { first: 1 } });
    expect(gone.viewer.usageEvents.nodes[0]).toMatchObject({ keyId, apiKey: null });
  });

  test('ledgerEntries pages by cursor while calls are charged, and counts the calls of an entry', async () => {
    const { token, user } = await signUp(suite.url);
    const { keyId } = await createTestKey(suite.db, { accountId: user.id });
    const charge = (calls: number) =>
      flushBatch(
        suite.db.pool,
        Array.from({ length: calls }, () => recordOf({ accountId: user.id, keyId })),
      );
    await charge(3);
    await dataOf(suite.url, TOP_UP, { token, variables: { input: { amountUsd: 10 } } });
    await charge(1);
    const seen: Ledger['viewer']['ledgerEntries']['nodes'] = [];
    let after: string | undefined;
    for (;;) {
      const { viewer } = await dataOf<Ledger>(suite.url, LEDGER, { token, variables: { first: 2, after } });
      expect(viewer.ledgerEntries.totalCount).toBe(4);
      seen.push(...viewer.ledgerEntries.nodes);
      if (!viewer.ledgerEntries.pageInfo.hasNextPage) break;
      after = viewer.ledgerEntries.pageInfo.endCursor;
      await charge(1);
    }
    expect(seen.map(({ kind, calls }) => [kind, calls])).toEqual([
      ['USAGE', 1],
      ['TOPUP', null],
      ['USAGE', 3],
      ['STARTER', null],
    ]);
    expect(seen[2]).toMatchObject({ amountUsd: '-0.000750', usageEvent: null });
  });

  test('a cursor of another list is refused', async () => {
    const { token } = await signUp(suite.url);
    const { viewer } = await dataOf<Ledger>(suite.url, LEDGER, { token, variables: { first: 1 } });
    const after = viewer.ledgerEntries.pageInfo.endCursor;
    expect(codesOf(await operate(suite.url, USAGE, { token, variables: { first: 1, after } }))).toEqual([
      'validation_error',
    ]);
  });
});
