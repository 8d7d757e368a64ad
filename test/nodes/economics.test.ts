import { DOLLAR } from '../../src/lib/money.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { rollUpUsage } from '../../src/services/analytics/rollups.service.js';
import type { NodeEconomicsOutput } from '../../src/services/nodes/economics.outputs.js';
import {
  bandOf,
  breakEvenOf,
  CALL_BOUNDS,
  callRange,
  marginOf,
} from '../../src/services/nodes/economics.rules.js';
import { dataOf } from '../graphql/support.js';
import { jobContext } from '../jobs/support.js';
import { createPayer, type Payer, recordOf } from '../metering/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { usePlatform } from '../support/platform-suite.js';
import { insertNode, NODE_SECRET, WITH_SECRET } from './support.js';

const HOUR = 3_600_000;
const BENCHMARK = {
  model_public_name: 'gateway/fast',
  total_requests: 100,
  concurrency: 16,
  total_tokens: 1_000,
  duration_ms: 1_000,
  tokens_per_second: 1_000,
  p50_latency_ms: 400,
  p95_latency_ms: 500,
  errors: 0,
};

describe('the earnings of nodes', () => {
  const clock = testClock();
  // They are listed over all nodes, at a time of the test's own.
  const suite = usePlatform({ own: true, clock, env: WITH_SECRET });
  let token: string;
  let payer: Payer;
  let url: string;
  beforeAll(async () => {
    token = (await signUpAdmin(suite)).token;
    payer = await createPayer(suite.db.pool);
    url = suite.url;
  });
  beforeEach(() => suite.db.pool.query('delete from gpu_nodes; delete from gpu_benchmarks'));

  /** Calls that ended so many hours ago. */
  const serve = (nodeId: string, hoursAgo: number, calls: Partial<UsageRecord>[]) =>
    flushBatch(
      suite.db.pool,
      calls.map((changes, i) =>
        recordOf(payer, {
          createdAt: clock.now() - hoursAgo * HOUR - i,
          deployment: 'fast-1',
          nodeId,
          nodeCalls: 16,
          latencyMs: 400,
          ...changes,
        }),
      ),
    );
  const repeat = (count: number, changes: Partial<UsageRecord> = {}) =>
    Array.from({ length: count }, () => changes);
  const economics = async (query = '') =>
    (await call<NodeEconomicsOutput[]>(url, 'GET', `/api/admin/node-economics${query}`, { token })).body;
  const nodeSince = (hoursAgo: number, hourlyCost = '2.5') =>
    insertNode(suite.db.pool, 'http://10.0.0.1:8000', {
      hourlyCost,
      createdAt: new Date(clock.now() - hoursAgo * HOUR),
    });

  test('are the charges for their calls minus the cost of their hours', async () => {
    const node = await nodeSince(4);
    await serve(node, 1, [{ cost: 7n * DOLLAR }, { cost: 5n * DOLLAR }, { status: 'error' }]);
    await serve(node, 0, [{ cost: DOLLAR / 3n }]);
    // Of nobody's node.
    await flushBatch(suite.db.pool, [recordOf(payer, { createdAt: clock.now(), deployment: 'fast-2' })]);
    const [found] = await economics();
    const { rows } = await suite.db.pool.query<{ revenue: string }>(
      'select sum(cost)::text as revenue from usage_events where node_id = $1 and seq is not null',
      [node],
    );
    expect(found).toMatchObject({
      node_id: node,
      hours: 4,
      requests: 4,
      errors: 1,
      hourly_cost_usd: '2.500000',
      revenue_usd: rows[0]!.revenue,
      cost_usd: '10.000000',
      margin_usd: '2.333333333333',
      margin_per_hour_usd: '0.583333333333',
    });
    expect(found!.models).toMatchObject([
      { model_public_name: 'gateway/fast', deployments: ['fast-1'], requests: 4, errors: 1, benchmark: null },
    ]);
  });

  test('are the same before and after their hours are rolled up', async () => {
    const node = await nodeSince(30);
    await serve(node, 3, repeat(20, { nodeCalls: 3, latencyMs: 250 }));
    await serve(node, 26, [...repeat(15, { nodeCalls: null }), { status: 'error', nodeCalls: 40 }]);
    const nothing = { inputTokens: 0, outputTokens: 0, cost: 0n };
    await serve(node, 27, [
      { ...nothing, anomalous: true },
      { ...nothing, status: 'error' },
      { anomalous: true },
    ]);
    await call(url, 'POST', '/api/internal/benchmarks', {
      token: NODE_SECRET,
      body: { node_id: node, ...BENCHMARK, concurrency: 3 },
    });
    const before = await economics();
    expect(before[0]).toMatchObject({ requests: 39, errors: 2 });
    // One answer came with a usage of zero; another came with one beyond the context.
    expect(before[0]!.models).toMatchObject([{ requests: 39, uncounted: 1 }]);
    expect(before[0]!.models[0]!.benchmark!.usage).toMatchObject({ requests: 20, p95_latency_ms: 248 });
    expect(await rollUpUsage(jobContext(suite.db.orm, clock.now()).context)).toBeGreaterThan(0);
    const { rowCount } = await suite.db.pool.query('select from node_hours where node_id = $1', [node]);
    expect(rowCount).toBeGreaterThanOrEqual(3);
    expect(await economics()).toEqual(before);
    expect((await economics('?window_days=1'))[0]).toMatchObject({ requests: 20 });
  });

  test('are the same for one node as in the list, whether its hours are rolled up or not', async () => {
    const [node, other] = [await nodeSince(30), await nodeSince(30)];
    await serve(node, 3, repeat(20, { latencyMs: 250 }));
    await serve(other, 3, repeat(25, { latencyMs: 900 }));
    await rollUpUsage(jobContext(suite.db.orm, clock.now()).context);
    await serve(node, 0, repeat(2));
    await serve(other, 0, repeat(3));
    const ofAll = (await economics()).find(({ node_id }) => node_id === node);
    expect(ofAll).toMatchObject({ requests: 22 });
    expect(await economics(`?node_id=${node}`)).toEqual([ofAll]);
    // Ids are the same in any case, as at GET /api/admin/gpu-nodes/{id}.
    expect(await economics(`?node_id=${node.toUpperCase()}`)).toEqual([ofAll]);
  });

  test('include how many concurrent calls break even', async () => {
    // Two hours of one call at a time that earned a dollar each: five at once pay for $5 an hour.
    const node = await nodeSince(2, '5');
    await serve(node, 1, repeat(2, { cost: DOLLAR, latencyMs: HOUR }));
    expect((await economics())[0]).toMatchObject({ average_concurrency: 1, break_even_concurrency: 5 });
    const idle = await nodeSince(2, '5');
    const [, last] = await economics();
    expect(last).toMatchObject({
      node_id: idle,
      break_even_concurrency: null,
      margin_per_hour_usd: '-5.000000',
    });
  });

  test('show the latency in use next to the benchmark, at the same number of calls', async () => {
    const node = await nodeSince(2);
    await call(url, 'POST', '/api/internal/benchmarks', {
      token: NODE_SECRET,
      body: { node_id: node, ...BENCHMARK },
    });
    await serve(node, 1, [
      ...repeat(19, { nodeCalls: 16, latencyMs: 90 }),
      { nodeCalls: 19, latencyMs: 95 },
      ...repeat(60, { nodeCalls: 1, latencyMs: 10 }),
      ...repeat(60, { nodeCalls: 20, latencyMs: 900 }),
    ]);
    const [found] = await economics();
    expect(found!.models[0]!.p95_latency_ms).toBeGreaterThan(890);
    expect(found!.models[0]!.benchmark).toMatchObject({
      concurrency: 16,
      p95_latency_ms: 500,
      usage: { concurrency_from: 16, concurrency_to: 19, requests: 20, p95_latency_ms: 90 },
    });
    await suite.db.pool.query('update gpu_benchmarks set concurrency = 64');
    expect((await economics())[0]!.models[0]!.benchmark!.usage).toMatchObject({
      requests: 0,
      p95_latency_ms: null,
    });
  });

  test('are listed by margin, optionally of one node, and over GraphQL', async () => {
    const poor = await nodeSince(1, '3');
    const rich = await nodeSince(1, '1');
    expect((await economics()).map(({ node_id }) => node_id)).toEqual([rich, poor]);
    expect(await economics(`?node_id=${poor}`)).toHaveLength(1);
    expect(await economics('?node_id=none')).toEqual([]);
    const { nodeEconomics } = await dataOf<{ nodeEconomics: unknown[] }>(
      url,
      `{ nodeEconomics(windowDays: 1, nodeId: "${rich}") { nodeId marginPerHourUsd models { revenueUsd } } }`,
      { token },
    );
    expect(nodeEconomics).toEqual([{ nodeId: rich, marginPerHourUsd: '-1.000000', models: [] }]);
  });

  test('require an administrator, and windows are limited', async () => {
    const stranger = await signUp(url);
    const asked = (as: string | undefined, query = '') =>
      call(url, 'GET', `/api/admin/node-economics${query}`, as === undefined ? {} : { token: as });
    expect([(await asked(undefined)).status, (await asked(stranger.token)).status]).toEqual([401, 403]);
    expect((await asked(token, '?window_days=31')).status).toBe(422);
  });
});

describe('bands of concurrent calls', () => {
  test('contain each number once, and are at most a quarter of an octave wide', () => {
    for (let calls = 1; calls < 3_000; calls++) {
      const { from, to } = callRange(bandOf(calls));
      expect([calls, from <= calls && calls <= to]).toEqual([calls, true]);
      expect((to - from + 1) / from).toBeLessThanOrEqual(from === 1 ? 1 : 0.5);
    }
    expect([...CALL_BOUNDS].sort((a, b) => a - b)).toEqual(CALL_BOUNDS);
  });

  test('include a node that was registered this instant', () => {
    const earnings = { hourlyCost: DOLLAR, revenue: DOLLAR, ms: 0, busyMs: 1 };
    expect(marginOf(earnings).margin).toBe(DOLLAR - DOLLAR / 3_600_000n);
    expect(breakEvenOf(earnings)).toBe(0.01);
  });
});
