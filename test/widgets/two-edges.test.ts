import { promptsApi } from '../prompts/support.js';
import { call, signUp } from '../support/api.js';
import { balanceOf, postChat, startTestEdge, type TestEdge } from '../support/edge.js';
import { ownTime } from '../support/own-time.js';
import { usePlatform } from '../support/platform-suite.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../support/redis.js';
import { chat, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { LONG, sized } from '../support/size.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { createTestWidget, refusalOf, say } from './edge-support.js';
import type { Widget } from './support.js';

/** A busy machine is not a Redis that doesn't answer. */
const PATIENCE = { redisMs: 5_000, queueMs: 5_000 };
const ROLL_BACKS = sized(6, 200);
/** A roll-back reaches every site within this: every one on an idle machine, half of them on any. */
const ROLL_BACK_MS = 250;
const EXCEEDED = [429, 'widget_daily_cap_exceeded'];

const metricOf = async ({ registry }: TestEdge, name: string): Promise<number> =>
  (await registry.getSingleMetric(name)!.get()).values[0]!.value;

/** Messages on both edges in turn, all at once; gives statuses, sorted. */
async function storm(edges: TestEdge[], publicKey: string, messages: number): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: messages }, (_, n) => say(edges[n % 2]!.url, publicKey)),
  );
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
}
const times = (status: number, count: number): number[] => Array.from({ length: count }, () => status);

describeWithRedis('a widget on two edges', () => {
  const suite = usePlatform();
  let upstream: ScriptedUpstream;
  let redis: TestRedis;
  let edges: TestEdge[] = [];
  const start = (): Promise<TestEdge> =>
    startTestEdge(suite.db, {
      upstreamUrl: upstream.url,
      env: { REDIS_URL: redis.url, TRUST_PROXY: '127.0.0.1/32' },
      patience: PATIENCE,
    });
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    redis = await createTestRedis();
    edges = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    redis?.thaw();
    await Promise.all(edges.map((edge) => edge.close()));
    await redis?.close();
    await upstream?.close();
  });
  /** Each knows of the other again, since Redis was emptied: both have registered with it, and have heard so. */
  const bothKnow = async (): Promise<void> => {
    await until(async () => {
      if ((await redis.client.zcard('gw:edges').catch(() => 0)) < 2) return false;
      const shared = await Promise.all(edges.map((edge) => metricOf(edge, 'gateway_limits_shared')));
      const alive = await Promise.all(edges.map((edge) => metricOf(edge, 'gateway_edges_alive')));
      return shared.every((yes) => yes === 1) && alive.every((count) => count === 2);
    });
  };
  beforeEach(() => upstream.answer(chat()));

  test('counts the messages of a day over both, and uncounts those that failed', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { daily_message_limit: 7 } });
    upstream.answer((_request, response) => void response.writeHead(500).end('{}'));
    expect(await storm(edges, publicKey, 7)).toEqual(times(502, 7));
    upstream.answer(chat());
    expect(await storm(edges, publicKey, 40)).toEqual([...times(200, 7), ...times(429, 33)]);
    for (const edge of edges) expect(await refusalOf(await say(edge.url, publicKey))).toEqual(EXCEEDED);
    for (const edge of edges) await edge.settled();
    for (const edge of edges) expect(await refusalOf(await say(edge.url, publicKey))).toEqual(EXCEEDED);
  });

  test('counts the messages of a minute over both', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { rate_limit_per_minute: 5 } });
    expect(await storm(edges, publicKey, 20)).toEqual([...times(200, 5), ...times(429, 15)]);
    for (const edge of edges) {
      expect(await refusalOf(await say(edge.url, publicKey))).toEqual([429, 'widget_rate_limit']);
    }
  });

  test('stops when the balance of its owner reaches 0, while calls stop at $0.001', async () => {
    const { accountId, publicKey, key } = await createTestWidget(suite.db, { balance: '0.0009' });
    // $0.0004 each.
    upstream.answer(chat({ usage: { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 } }));
    const calls = () => Promise.all(edges.map(async ({ url }) => (await postChat(url, key)).status));
    expect(await calls()).toEqual([402, 402]);
    expect((await storm(edges, publicKey, 30)).filter((status) => status === 200)).toHaveLength(3);
    const exhausted = [503, 'widget_owner_insufficient_balance'];
    for (const edge of edges) {
      await edge.settled();
      await until(async () => (await refusalOf(await say(edge.url, publicKey)))[1] === exhausted[1], {
        what: 'the end',
      });
    }
    for (const edge of edges) expect(await refusalOf(await say(edge.url, publicKey))).toEqual(exhausted);
    expect(await calls()).toEqual([402, 402]);
    expect(await balanceOf(suite.db, accountId)).toBe('-0.000300000000');
  });

  test('counts the messages of a visitor over both, without affecting others', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { visitor_daily_limit: 3 } });
    const visit = (n: number, address: string) =>
      say(edges[n % 2]!.url, publicKey, {
        headers: { 'x-forwarded-for': address },
        body: { session_id: 'visit' },
      });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => visit(n, '192.0.2.1')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    for (let n = 0; n < 2; n++) {
      expect(await refusalOf(await visit(n, '192.0.2.1'))).toEqual([429, 'widget_rate_limit']);
      expect((await visit(n, '192.0.2.2')).status).toBe(200);
    }
  });

  test('stores no address of a visitor', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { visitor_daily_limit: 3 } });
    expect((await say(edges[0]!.url, publicKey)).status).toBe(200);
    expect((await redis.client.keys('*')).filter((key) => key.includes('127.0.0'))).toEqual([]);
  });

  test('keeps its caps when an edge restarts, even with an empty Redis', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { daily_message_limit: 4 } });
    expect(await storm(edges, publicKey, 4)).toEqual(times(200, 4));
    await edges[1]!.close();
    // An edge that Redis forgets before the other has heard of its end would be waited for.
    await until(async () => (await metricOf(edges[0]!, 'gateway_edges_alive')) === 1);
    edges[1] = await start();
    expect(await storm(edges, publicKey, 10)).toEqual(times(429, 10));
    // An empty Redis knows what is committed.
    await edges[0]!.settled();
    await redis.client.flushall();
    expect(await storm(edges, publicKey, 10)).toEqual(times(429, 10));
  });

  test('stops with its key on every edge, and uses the active version of its prompt', async () => {
    const owner = await signUp(suite.url);
    const prompts = promptsApi(
      () => suite.url,
      () => owner.token,
    );
    const prompt = await prompts.create({
      content: '{{company}} greets {{visitor}}',
      variables: [{ name: 'company', default: 'Acme' }, { name: 'visitor' }],
    });
    // A variable without a default stays, and keeps no other from its own.
    const firstText = 'Acme greets {{ visitor }}';
    const second = await prompts.addVersion(prompt.id, { content: 'Version 2', variables: [] });
    await prompts.activate(prompt.id, second.id);
    const widget = await createTestWidget(suite.db, {
      accountId: owner.user.id,
      // Far above what the full size asks.
      columns: { prompt_id: prompt.id, rate_limit_per_minute: 10_000, daily_message_limit: 10_000 },
    });
    const asked = async (edge: TestEdge): Promise<string> => {
      expect((await say(edge.url, widget.publicKey)).status).toBe(200);
      const { messages } = JSON.parse(upstream.seen.at(-1)!.body) as { messages: { content: string }[] };
      return messages[0]!.content;
    };
    for (const edge of edges) expect(await asked(edge)).toBe('Version 2');
    const time = ownTime();
    const waits: number[] = [];
    for (let move = 0; move < ROLL_BACKS; move++) {
      const [id, content] = move % 2 === 0 ? [prompt.active_version_id, firstText] : [second.id, 'Version 2'];
      await prompts.activate(prompt.id, id);
      const activated = time.now();
      for (const edge of edges) {
        await until(async () => (await asked(edge)) === content, { what: content, timeoutMs: 5_000 });
      }
      waits.push(time.now() - activated);
    }
    time.stop();
    const sorted = waits.toSorted((a, b) => a - b);
    expect(sorted[LONG ? ROLL_BACKS - 1 : ROLL_BACKS / 2]).toBeLessThan(ROLL_BACK_MS);
    const path = `/api/widgets/${widget.id}/rotate-key`;
    const rotated = await call<Widget>(suite.url, 'POST', path, { token: owner.token, body: {} });
    expect(rotated.status).toBe(200);
    for (const edge of edges) {
      const ended = async () => (await say(edge.url, widget.publicKey)).status === 404;
      await soonerThan(2_000, ended, 'the end of the key');
      expect((await say(edge.url, rotated.body.public_key)).status).toBe(200);
    }
  });

  test('gives each edge a share while Redis is unavailable', async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { daily_message_limit: 8 } });
    expect(await storm(edges, publicKey, 2)).toEqual(times(200, 2));
    for (const edge of edges) await edge.settled();
    await bothKnow();
    await redis.kill();
    await until(async () => (await say(edges[0]!.url, publicKey)).status === 200, { what: 'an answer' });
    const statuses = await storm(edges, publicKey, 40);
    const answered = statuses.filter((status) => status === 200).length;
    expect(answered).toBeGreaterThan(0);
    for (const edge of edges) await edge.settled();
    const { rows } = await suite.db.pool.query<{ messages: number }>(
      'select messages from widget_days d join widgets w on w.id = d.widget_id where w.public_key = $1',
      [publicKey],
    );
    expect(rows[0]!.messages).toBeLessThanOrEqual(8);
    await redis.start();
    await bothKnow();
  });

  test("doesn't use a share from when one edge was alone", async () => {
    const { publicKey } = await createTestWidget(suite.db, { columns: { daily_message_limit: 8 } });
    await edges[1]!.close();
    await until(async () => (await metricOf(edges[0]!, 'gateway_edges_alive')) === 1);
    await redis.kill();
    await until(async () => (await metricOf(edges[0]!, 'gateway_limits_shared')) === 0);
    expect((await say(edges[0]!.url, publicKey)).status).toBe(200);
    await redis.start();
    edges[1] = await start();
    await bothKnow();
    await redis.kill();
    await until(async () => (await say(edges[1]!.url, publicKey)).status === 200, { what: 'an answer' });
    const statuses = await storm(edges, publicKey, 40);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(8 - 2);
    await redis.start();
  });
});
