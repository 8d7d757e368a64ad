import { pgPool } from '../../src/db/connection.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import { limitKey, subscribe } from '../alerts/support.js';
import { recordOf } from '../metering/support.js';
import { promptsApi } from '../prompts/support.js';
import { signUp } from '../support/api.js';
import { createTestKey } from '../support/edge.js';
import { usePlatform } from '../support/platform-suite.js';
import { watchPool } from '../support/watched-pool.js';
import { widgetsApi } from '../widgets/support.js';
import { dataOf } from './support.js';

const KEYS = 100;
/** Each operation asks once whether its session still holds. */
const SESSION = 1;

describe('the statements of an operation', () => {
  // Counts every statement of its pool.
  const suite = usePlatform({ own: true });
  let token: string;
  let accountId: string;
  const asked: string[] = [];

  beforeAll(async () => {
    const signup = await signUp(suite.url);
    token = signup.token;
    accountId = signup.user.id;
    for (let n = 0; n < KEYS; n++) {
      const { keyId } = await createTestKey(suite.db, { accountId });
      await limitKey(suite.db.pool, { accountId, keyId }, 0);
      await subscribe(suite.db.pool, { accountId, keyId }, [50, 100]);
      await flushBatch(suite.db.pool, [recordOf({ accountId, keyId })]);
    }
    watchPool(await pgPool(suite.db.orm), (text, ask) => {
      asked.push(text);
      return ask();
    });
  });

  /** Asks until two answers in a row take as many statements: now and then the platform asks something by itself. */
  const counted = async <Data>(query: string, asker = token): Promise<{ data: Data; statements: number }> => {
    for (let before = -1; ; before = asked.length) {
      asked.length = 0;
      const data = await dataOf<Data>(suite.url, query, { token: asker });
      if (asked.length === before) return { data, statements: asked.length };
    }
  };

  test('for 100 keys with owner, plan and usage of each are five, not three hundred', async () => {
    const { data, statements } = await counted<{
      viewer: {
        apiKeys: { nodes: { owner: { plan: { name: string } }; usageByDay: { costUsd: string }[] }[] };
      };
    }>(`{ viewer { apiKeys(first: 100) { nodes {
      id name spendTodayUsd owner { email plan { name requestsPerMinute } } usageByDay(days: 30) { date costUsd } } } } }`);
    const { nodes } = data.viewer.apiKeys;
    expect(nodes).toHaveLength(KEYS);
    for (const { owner, usageByDay } of nodes) {
      expect(owner.plan.name).toBe('free');
      expect(usageByDay.at(-1)!.costUsd).toBe('0.000250');
      expect(usageByDay).toHaveLength(30);
    }
    // Session, keys, account, plan, spend per day.
    expect(statements).toBe(SESSION + 4);
  });

  test("for 100 usage events, each with its key, the key's owner, and its model", async () => {
    const { data, statements } = await counted<{ viewer: { usageEvents: { nodes: { apiKey: unknown }[] } } }>(
      `{ viewer { usageEvents(first: 100) { totalCount nodes { id apiKey { name owner { plan { name } } } model { family } } } } }`,
    );
    expect(data.viewer.usageEvents.nodes.filter(({ apiKey }) => apiKey !== null)).toHaveLength(KEYS);
    // Account, hours of the page, page, total, keys, models, plans.
    expect(statements).toBe(SESSION + 7);
  });

  test('for the totals of a page, however often they are requested', async () => {
    const totals = (aliases: number) =>
      counted(
        `{ viewer { usageEvents(first: 1) { ${Array.from({ length: aliases }, (_, n) => `a${n}: totals { calls }`).join(' ')} } } }`,
      );
    expect((await totals(15)).statements).toBe((await totals(1)).statements);
  });

  test('for usage events of several widgets, each with its widget', async () => {
    const owner = await signUp(suite.url);
    const widgets = widgetsApi(
      () => suite.url,
      () => owner.token,
    );
    const payer = { accountId: owner.user.id, keyId: '' };
    for (let n = 0; n < 5; n++) {
      const { id } = await widgets.create({ name: `widget ${n}` });
      await flushBatch(suite.db.pool, [recordOf(payer, { keyId: null, widgetId: id })]);
    }
    const { data, statements } = await counted<{
      viewer: { usageEvents: { nodes: { widget: { name: string } }[] } };
    }>('{ viewer { usageEvents(first: 100) { nodes { id widget { name } } } } }', owner.token);
    const names = data.viewer.usageEvents.nodes.map(({ widget }) => widget.name);
    expect(names.toSorted()).toEqual(Array.from({ length: 5 }, (_, n) => `widget ${n}`));
    // Account, hours of the page, page, widgets.
    expect(statements).toBe(SESSION + 4);
  });

  test('for ledger entries, the charges that are not written yet among them', async () => {
    const { data, statements } = await counted<{
      viewer: { ledgerEntries: { nodes: { calls: number | null }[] } };
    }>('{ viewer { ledgerEntries(first: 100) { nodes { calls usageEvent { id apiKey { id } } } } } }');
    expect(data.viewer.ledgerEntries.nodes.map(({ calls }) => calls)).toEqual([KEYS, null]);
    // Account, page.
    expect(statements).toBe(SESSION + 2);
  });

  test('for 100 keys with their subscriptions and alert events', async () => {
    const { data, statements } = await counted<{ viewer: { apiKeys: { nodes: { alerts: unknown[] }[] } } }>(
      `{ viewer { apiKeys(first: 100) { nodes { alerts { destination }
        alertEvents(first: 5) { nodes { thresholdPct apiKey { name } } } } } } }`,
    );
    expect(data.viewer.apiKeys.nodes.filter(({ alerts }) => alerts.length === 1)).toHaveLength(KEYS);
    // Account, keys, subscriptions, events, keys of events.
    expect(statements).toBe(SESSION + 5);
  });

  test('for analytics of 30 keys, and of the previous window, are one read each', async () => {
    const { data, statements } = await counted<{
      viewer: {
        apiKeys: {
          nodes: {
            now: { totalRequests: number; p95LatencyMs: number };
            before: { totalRequests: number };
          }[];
        };
      };
    }>(`{ viewer { apiKeys(first: 30) { nodes { now: analytics(windowDays: 7) { totalRequests p95LatencyMs }
        before: analytics(windowDays: 7, endsDaysAgo: 7) { totalRequests } } } } }`);
    const { nodes } = data.viewer.apiKeys;
    expect(
      nodes.map(({ now, before }) => [now.totalRequests, now.p95LatencyMs, before.totalRequests]),
    ).toEqual(Array(30).fill([1, 120, 0]));
    // Account, keys; then begin, owned keys, open hours, counts, commit of both; and open hours and latencies of the one that has calls.
    expect(statements).toBe(SESSION + 2 + 5 + 5 + 2);
  });

  test('for 90 prompts, each with its newest version and its last activation', async () => {
    const PROMPTS = 90;
    const api = promptsApi(
      () => suite.url,
      () => token,
    );
    for (let n = 0; n < PROMPTS; n++) {
      const { id } = await api.create({ name: `Prompt ${n}` });
      const { id: second } = await api.addVersion(id, { notes: `Second of ${n}` });
      if (n % 2 === 1) await api.activate(id, second);
    }
    const { data, statements } = await counted<{
      viewer: {
        prompts: {
          nodes: {
            name: string;
            versions: { nodes: { version: number; notes: string }[]; pageInfo: { hasNextPage: boolean } };
            activations: { fromVersion: number; toVersion: number }[];
          }[];
        };
      };
    }>(`{ viewer { prompts(first: ${PROMPTS}) { nodes { name
      versions(first: 1) { nodes { version notes } pageInfo { hasNextPage } }
      activations(limit: 1) { fromVersion toVersion } } } } }`);
    const { nodes } = data.viewer.prompts;
    expect(nodes).toHaveLength(PROMPTS);
    for (const [position, { name, versions, activations }] of nodes.entries()) {
      const n = PROMPTS - 1 - position;
      expect(name).toBe(`Prompt ${n}`);
      expect(versions).toEqual({
        nodes: [{ version: 2, notes: `Second of ${n}` }],
        pageInfo: { hasNextPage: true },
      });
      expect(activations).toEqual(n % 2 === 1 ? [{ fromVersion: 1, toVersion: 2 }] : []);
    }
    // Account, prompts, versions, activations.
    expect(statements).toBe(SESSION + 4);
  });

  test('for two windows of days are one', async () => {
    const { statements } = await counted(
      '{ viewer { apiKeys(first: 100) { nodes { a: usageByDay(days: 7) { date } b: usageByDay(days: 30) { date } } } } }',
    );
    expect(statements).toBe(SESSION + 3);
  });
});
