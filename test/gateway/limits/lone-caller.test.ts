import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  balanceOf,
  createTestKey,
  errorOf,
  postChat,
  startTestEdge,
  type TestEdge,
} from '../../support/edge.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { chat, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';

const EDGES = 2;
const CALLS = 250;
/** 1 token in and 1 out of gateway/fast at $0.10 and $0.30 a million. */
const USAGE = { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
const COST_USD = 0.0000004;

/** Requirement C6: what an account's own finished calls held is free for its next call at once. */
describeWithRedis(`a lone caller near the floor, over ${EDGES} edges`, () => {
  let db: TestDatabase;
  let redis: TestRedis;
  let upstream: ScriptedUpstream;
  const edges: TestEdge[] = [];
  beforeAll(async () => {
    db = await createTestDatabase();
    await db.pool.query('update plans set requests_per_minute = 60000');
    redis = await createTestRedis();
    upstream = await startScriptedUpstream();
    upstream.answer(chat(USAGE));
    const env = { REDIS_URL: redis.url };
    // A busy machine is not a Redis that doesn't answer. The queue waits longer than the product’s.
    const options = { upstreamUrl: upstream.url, env, patience: { redisMs: 10_000, queueMs: 1_000 } };
    for (let nth = 0; nth < EDGES; nth++) edges.push(await startTestEdge(db, options));
    const alive = ({ registry }: TestEdge) => registry.getSingleMetric('gateway_edges_alive')!.get();
    await until(async () =>
      (await Promise.all(edges.map(alive))).every(({ values }) => values[0]!.value === EDGES),
    );
  });
  afterAll(async () => {
    for (const edge of edges) await edge.close();
    await upstream?.close();
    await redis?.close();
    await db?.close();
  });

  test.each(['0.0011', '0.002', '0.005', '0.01'])(
    `a lone caller with $%s is never refused because of its own calls, ${CALLS} in a row`,
    async (balance) => {
      const { key, accountId } = await createTestKey(db, { balance });
      const refused: unknown[] = [];
      for (let call = 0; call < CALLS; call++) {
        const response = await postChat(edges[call % EDGES]!.url, key);
        if (response.status === 200) await response.arrayBuffer();
        else refused.push([call, response.status, (await errorOf(response)).message]);
      }
      expect(refused).toEqual([]);
      for (const edge of edges) await edge.settled();
      expect(Number(await balanceOf(db, accountId))).toBeCloseTo(Number(balance) - CALLS * COST_USD, 12);
    },
  );

  test('a lone caller is not refused after a call that took nearly all of its balance', async () => {
    const { key, accountId } = await createTestKey(db, { balance: '0.0575' });
    // 31,000 tokens out of gateway/deepseek-code at $1.80 a million: 0.0558 dollars.
    upstream.answer(chat({ usage: { prompt_tokens: 0, completion_tokens: 31_000, total_tokens: 31_000 } }));
    const dear = await postChat(edges[0]!.url, key, { model: 'gateway/deepseek-code' });
    upstream.answer(chat(USAGE));
    const next = await postChat(edges[1]!.url, key);
    expect([dear.status, next.status]).toEqual([200, 200]);
    await Promise.all([dear, next].map((response) => response.arrayBuffer()));
    for (const edge of edges) await edge.settled();
    expect(Number(await balanceOf(db, accountId))).toBeCloseTo(0.0575 - 0.0558 - COST_USD, 12);
  });

  test('a lone caller is not refused at its daily cap because of its own finished call, while another key calls', async () => {
    const { key, accountId } = await createTestKey(db, { balance: '100', dailyLimit: '0.0575' });
    const other = await createTestKey(db, { accountId });
    upstream.answer(chat({ usage: { prompt_tokens: 0, completion_tokens: 31_000, total_tokens: 31_000 } }));
    const dear = await postChat(edges[0]!.url, key, { model: 'gateway/deepseek-code' });
    await dear.arrayBuffer();
    upstream.answer(chat(USAGE));
    let over = false;
    const others = (async () => {
      while (!over) await (await postChat(edges[1]!.url, other.key)).arrayBuffer();
    })();
    try {
      const next = await postChat(edges[1]!.url, key);
      await next.arrayBuffer();
      expect([dear.status, next.status]).toEqual([200, 200]);
    } finally {
      over = true;
      await others;
    }
  });

  test('a lone caller is refused once its balance is below the floor', async () => {
    const { key } = await createTestKey(db, { balance: '0.0010008' });
    const statuses: number[] = [];
    for (let call = 0; call < 4; call++) {
      const response = await postChat(edges[call % EDGES]!.url, key);
      await response.arrayBuffer();
      statuses.push(response.status);
    }
    // Exactly at the floor a call is admitted, which ends below.
    expect(statuses).toEqual([200, 200, 200, 402]);
  });
});
