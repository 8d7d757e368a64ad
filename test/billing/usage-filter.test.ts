import { utcDay } from '../../src/lib/clock.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { codesOf, dataOf, operate } from '../graphql/support.js';
import { recordOf } from '../metering/support.js';
import { call, type ErrorAnswer, signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';

const DAY_MS = 86_400_000;
const LIST = `query ($filter: UsageFilterInput, $first: Int! = 50, $after: String) { viewer {
  usageEvents(filter: $filter, first: $first, after: $after) {
    totalCount totals { calls costUsd } nodes { id status } pageInfo { hasNextPage endCursor } } } }`;
const BEFORE = `query ($before: String, $filter: UsageFilterInput) { viewer {
  usageEvents(first: 2, before: $before, filter: $filter) {
    nodes { id } pageInfo { hasPreviousPage startCursor } } } }`;

interface List {
  viewer: {
    usageEvents: {
      totalCount: number;
      totals: { calls: number; costUsd: string };
      nodes: { id: string; status: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    };
  };
}

/** Which events a list or an export tells. */
describe('a filter of usage', () => {
  const suite = usePlatform({ env: { PUBLIC_BASE_URL: 'https://inference.example.com/' } });
  let token: string;
  let keyId: string;
  let otherKeyId: string;
  let ids: Record<'plain' | 'otherKey' | 'otherModel' | 'failed' | 'old', string>;
  beforeAll(async () => {
    const { token: given, user } = await signUp(suite.url);
    token = given;
    ({ keyId } = await createTestKey(suite.db, { accountId: user.id }));
    ({ keyId: otherKeyId } = await createTestKey(suite.db, { accountId: user.id }));
    const { user: stranger } = await signUp(suite.url);
    const strange = await createTestKey(suite.db, { accountId: stranger.id });
    const now = Date.now();
    const own = (changes: Partial<UsageRecord>): UsageRecord =>
      recordOf({ accountId: user.id, keyId }, { createdAt: now, ...changes });
    const records = {
      plain: own({}),
      otherKey: own({ keyId: otherKeyId }),
      otherModel: own({ servedModel: 'gateway/qwen-pro' }),
      failed: own({ status: 'error', errorCode: 'upstream_error', cost: 0n }),
      old: own({ createdAt: now - 3 * DAY_MS }),
    };
    await flushBatch(suite.db.pool, [
      ...Object.values(records),
      recordOf({ accountId: stranger.id, keyId: strange.keyId }, { createdAt: now }),
    ]);
    ids = Object.fromEntries(
      Object.entries(records).map(([name, { id }]) => [name, id]),
    ) as unknown as typeof ids;
  });

  const CASES = (): [object, string, (keyof typeof ids)[]][] => [
    [{}, '', ['plain', 'otherKey', 'otherModel', 'failed', 'old']],
    [{ keyId: otherKeyId }, `?key_id=${otherKeyId}`, ['otherKey']],
    [{ model: 'gateway/qwen-pro' }, '?model=gateway/qwen-pro', ['otherModel']],
    [{ status: 'ERROR' }, '?status=error', ['failed']],
    [{ windowDays: 2 }, '?window_days=2', ['plain', 'otherKey', 'otherModel', 'failed']],
    [
      { windowDays: 4, keyId, status: 'SUCCESS' },
      `?window_days=4&key_id=${keyId}&status=success`,
      ['plain', 'otherModel', 'old'],
    ],
    [{ model: 'gateway/none', keyId: null }, '?model=gateway/none', []],
    [{ day: utcDay(Date.now() - 3 * DAY_MS) }, `?day=${utcDay(Date.now() - 3 * DAY_MS)}`, ['old']],
    [{ day: '2026-01-01', windowDays: 90 }, '?day=2026-01-01&window_days=90', []],
  ];

  test('applies to the list and the export alike', async () => {
    for (const [filter, query, expected] of CASES()) {
      const wanted = expected.map((name) => ids[name]).sort();
      const { viewer } = await dataOf<List>(suite.url, LIST, { token, variables: { filter } });
      expect(viewer.usageEvents.nodes.map(({ id }) => id).sort()).toEqual(wanted);
      const charged = viewer.usageEvents.nodes.filter((node) => node.status === 'SUCCESS');
      expect(viewer.usageEvents.totals).toEqual({
        calls: expected.length,
        costUsd: `0.00${String(charged.length * 25).padStart(3, '0')}0`,
      });
      const csv = await call(suite.url, 'GET', `/api/usage.csv${query}`, { token });
      expect(csv.status).toBe(200);
      const lines = csv.text.split('\r\n').slice(1, -1);
      expect(lines.map((line) => line.split(',')[0]!).sort()).toEqual(wanted);
    }
  });

  test('stays in effect from page to page, while the total is that of the account', async () => {
    const found: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < 3; page++) {
      const { viewer } = await dataOf<List>(suite.url, LIST, {
        token,
        variables: { filter: { keyId, status: 'SUCCESS' }, first: 1, after },
      });
      const { nodes, pageInfo, totalCount } = viewer.usageEvents;
      found.push(...nodes.map(({ id }) => id));
      expect([totalCount, pageInfo.hasNextPage]).toEqual([5, page < 2]);
      after = pageInfo.endCursor;
    }
    expect(found.sort()).toEqual([ids.plain, ids.otherModel, ids.old].sort());
  });

  test('pages backwards in the reverse order of forwards', async () => {
    const filter = { keyId };
    const all = (
      await dataOf<List>(suite.url, LIST, { token, variables: { filter } })
    ).viewer.usageEvents.nodes.map(({ id }) => id);
    const forward = await dataOf<List>(suite.url, LIST, { token, variables: { filter, first: 3 } });
    type Back = {
      viewer: {
        usageEvents: {
          nodes: { id: string }[];
          pageInfo: { hasPreviousPage: boolean; startCursor: string };
        };
      };
    };
    // Before the third come the first two; before the second only the first.
    let before = forward.viewer.usageEvents.pageInfo.endCursor;
    const back = (await dataOf<Back>(suite.url, BEFORE, { token, variables: { filter, before } })).viewer
      .usageEvents;
    expect([back.nodes.map(({ id }) => id), back.pageInfo.hasPreviousPage]).toEqual([all.slice(0, 2), false]);
    const second = await dataOf<List>(suite.url, LIST, { token, variables: { filter, first: 4 } });
    before = second.viewer.usageEvents.pageInfo.endCursor;
    const more = (await dataOf<Back>(suite.url, BEFORE, { token, variables: { filter, before } })).viewer
      .usageEvents;
    expect([more.nodes.map(({ id }) => id), more.pageInfo.hasPreviousPage]).toEqual([all.slice(1, 3), true]);
  });

  test.each([
    ['keyId', { keyId: 'mine' }, '?key_id=mine'],
    ['windowDays', { windowDays: 91 }, '?window_days=91'],
    ['model', { model: '' }, '?model='],
    ['day', { day: 'today' }, '?day=today'],
    ['day', { day: '0000-01-01' }, '?day=0000-01-01'],
    ['day', { day: '9999-12-31' }, '?day=9999-12-31'],
  ])('that is invalid is refused with the name of its field: %s', async (_field, filter, query) => {
    const listed = await operate(suite.url, LIST, { token, variables: { filter } });
    expect(codesOf(listed)).toEqual(['validation_error']);
    const answer = await call<ErrorAnswer>(suite.url, 'GET', `/api/usage.csv${query}`, { token });
    expect([answer.status, answer.body.error.details?.map(({ field }) => field)]).toEqual([
      422,
      [query.slice(1).split('=')[0]],
    ]);
  });

  test('analytics cover the previous window, over both interfaces', async () => {
    const query = `{ viewer { now: analytics(windowDays: 2) { totalRequests }
      before: analytics(windowDays: 2, endsDaysAgo: 2) { totalRequests dailyBreakdown { date requests } } } }`;
    const { viewer } = await dataOf<{
      viewer: {
        now: { totalRequests: number };
        before: { totalRequests: number; dailyBreakdown: { date: string; requests: number }[] };
      };
    }>(suite.url, query, { token });
    expect(viewer.now.totalRequests).toBe(4);
    const dayOf = (daysAgo: number): string =>
      new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    expect(viewer.before).toEqual({
      totalRequests: 1,
      dailyBreakdown: [
        { date: dayOf(3), requests: 1 },
        { date: dayOf(2), requests: 0 },
      ],
    });
    const rest = await call<{ total_requests: number }>(
      suite.url,
      'GET',
      '/api/usage/analytics?window_days=2&ends_days_ago=2',
      { token },
    );
    expect(rest.body.total_requests).toBe(1);
  });

  test('the URL in snippets is the public one, without any secret', async () => {
    const query = '{ installation { publicBaseUrl mailConfigured } }';
    expect(await dataOf(suite.url, query)).toEqual({
      installation: { publicBaseUrl: 'https://inference.example.com', mailConfigured: false },
    });
  });
});
