import { Agent, request as httpRequest } from 'node:http';
import { limitKey } from '../../alerts/support.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  balanceOf,
  createTestKey,
  errorOf,
  postChat,
  startTestEdge,
  type TestEdge,
} from '../../support/edge.js';
import { checkInvariants } from '../../support/invariants.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import {
  chat,
  delta,
  raw,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../../support/scripted-upstream.js';
import { sized } from '../../support/size.js';
import { until } from '../../support/until.js';

/** 1,000 tokens in and 20,000 out of gateway/fast at $0.10 and $0.30 a million. */
const USAGE = { usage: { prompt_tokens: 1_000, completion_tokens: 20_000, total_tokens: 21_000 } };
const CHARGE_USD = 0.0061;
/** Reached by the second call. */
const LIMIT_USD = 0.01;
const CAPPED_CALLS = sized(250, 500);
/** Callers that take turns with the calls of all kinds. */
const CALLERS = 200;

const openHolds = async ({ registry }: TestEdge): Promise<number> =>
  (await registry.getSingleMetric('gateway_open_holds')!.get()).values[0]!.value;

function suite(name: string, redisOf: () => TestRedis | undefined, count: number, mixedCalls: number): void {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  const edges: TestEdge[] = [];
  /** With so many seconds for the upstream, which shares this busy process. */
  const start = (patience = '10') =>
    startTestEdge(db, {
      upstreamUrl: upstream.url,
      // All of it runs in this one process, which 2,000 calls at once keep busy for longer than Redis is waited for.
      patience: { redisMs: 5_000, queueMs: 250 },
      env: {
        UPSTREAM_TIMEOUT_SECONDS: patience,
        UPSTREAM_IDLE_SECONDS: patience,
        ...(redisOf() ? { REDIS_URL: redisOf()!.url } : {}),
      },
    });
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
    for (let i = 0; i < count; i++) edges.push(await start());
  });
  afterAll(async () => {
    for (const edge of edges) await edge.close();
    await upstream?.close();
    await db?.close();
  });
  const everythingSettled = async (): Promise<void> => {
    await until(async () => (await Promise.all(edges.map(openHolds))).every((holds) => holds === 0), {
      what: 'no hold to be open',
    });
    for (const edge of edges) await edge.settled();
  };

  /** Statuses of calls that all start at once, spread over the edges. */
  const burst = (key: string, calls: number) =>
    Promise.all(
      Array.from({ length: calls }, async (_, i) => {
        const response = await postChat(edges[i % edges.length]!.url, key);
        await response.arrayBuffer();
        return response.status;
      }),
    );

  test.each([2, 50, sized(500, 2_000)])(
    `${name}: %i parallel calls near the floor overspend by one call at most`,
    async (calls) => {
      upstream.answer(chat(USAGE));
      const { key, accountId } = await createTestKey(db, { balance: '0.01', plan: 'team' });
      const statuses = await burst(key, calls);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
      expect([...new Set(statuses)].filter((status) => ![200, 402, 429].includes(status))).toEqual([]);
      await everythingSettled();
      expect(Number(await balanceOf(db, accountId))).toBeGreaterThanOrEqual(0.001 - CHARGE_USD);
      expect(await checkInvariants(db.pool)).toEqual([]);
    },
  );

  test(`${name}: ${CAPPED_CALLS} parallel calls of a capped key overspend by one call at most, and a restarted edge still refuses`, async () => {
    upstream.answer(chat(USAGE));
    const { key, accountId } = await createTestKey(db, { dailyLimit: '0.01', balance: '1' });
    await burst(key, CAPPED_CALLS);
    await everythingSettled();
    expect(Number(await balanceOf(db, accountId))).toBeGreaterThanOrEqual(1 - 0.01 - CHARGE_USD);
    expect(await checkInvariants(db.pool)).toEqual([]);
    await edges.shift()!.close();
    edges.unshift(await start());
    const refused = await postChat(edges[0]!.url, key);
    expect((await errorOf(refused)).code).toBe('daily_cap_exceeded');
  });

  test(`${name}: a key's guard acts once, every edge refuses, and each edge exceeds the percentage by one call at most`, async () => {
    upstream.answer(chat(USAGE));
    const guarded = await createTestKey(db, { balance: '1', plan: 'team' });
    await limitKey(db.pool, guarded, LIMIT_USD);
    await db.pool.query(`insert into key_guards (key_id, at_pct, action) values ($1, 100, 'disable')`, [
      guarded.keyId,
    ]);
    await db.pool.query(`select pg_notify('gateway_invalidate', $1)`, [
      `key:${guarded.keyId}:${guarded.accountId}`,
    ]);
    await burst(guarded.key, 40);
    await everythingSettled();
    // Near the percentage, calls wait for each other: one after the other reaches it.
    await until(async () => (await burst(guarded.key, 1))[0] === 402, { what: 'the guard to act' });
    for (const edge of edges) {
      await until(async () => (await postChat(edge.url, guarded.key)).status === 402, {
        what: 'the edge to refuse',
      });
      expect((await errorOf(await postChat(edge.url, guarded.key))).code).toBe('key_guard_reached');
    }
    await everythingSettled();
    const spent = 1 - Number(await balanceOf(db, guarded.accountId));
    expect(spent).toBeGreaterThanOrEqual(LIMIT_USD);
    // Until the guard acts, an edge may not know what the others have spent since it last read the key.
    expect(spent).toBeLessThan(edges.length * (LIMIT_USD + CHARGE_USD));
    const { rows } = await db.pool.query('select guard_action from alert_events where key_id = $1', [
      guarded.keyId,
    ]);
    expect(rows).toEqual([{ guard_action: 'disable' }]);
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test(`${name}: no hold stays open after calls that are answered, aborted, reset or time out`, async () => {
    for (const edge of edges.splice(0)) await edge.close();
    for (let i = 0; i < count; i++) edges.push(await start('1'));
    const keys = await Promise.all(Array.from({ length: 12 }, () => createTestKey(db, { balance: '100' })));
    // Thousands of calls: the general client takes several times as long as all that is tested.
    const agent = new Agent({ keepAlive: true });
    let turn = 0;
    const quick = [
      chat(),
      raw(500, '{}'),
      (_: unknown, response: { destroy(): void }) => response.destroy(),
      raw(200, 'garbage'),
    ];
    const hanging = [() => undefined, stream([delta('a'), delta('b')], { finish: false })];
    const scripts = [...quick, ...quick, ...quick, ...hanging];
    /** How callers leave, by the turn of the upstream at which they do. */
    const leaving = new Map<number, () => void>();
    upstream.answer((request, response) => {
      leaving.get(++turn)?.();
      return scripts[turn % scripts.length]!(request, response);
    });
    /**
     * Ends with the answer. A third of the callers leave once the upstream has been asked so many more times: from before their own
     * call can have reached it to after it has.
     */
    const one = (i: number): Promise<void> =>
      new Promise((resolve) => {
        const request = httpRequest(`${edges[i % edges.length]!.url}/v1/chat/completions`, {
          method: 'POST',
          agent,
          headers: { authorization: `Bearer ${keys[i % keys.length]!.key}` },
        });
        if (i % 3 === 0) leaving.set(turn + 1 + (i % CALLERS), () => request.destroy());
        request.on('response', (response) => response.on('error', () => undefined).resume());
        request.on('error', () => undefined);
        request.on('close', () => resolve());
        request.end(JSON.stringify({ model: 'gateway/fast', messages: [], stream: i % 2 === 0 }));
      });
    let next = 0;
    const before = upstream.seen.length;
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (next < mixedCalls) await one(next++);
      }),
    );
    agent.destroy();
    expect(upstream.seen.length - before).toBeGreaterThan(mixedCalls / 2);
    await everythingSettled();
    const redis = redisOf();
    if (redis) {
      await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
    }
    expect(await checkInvariants(db.pool)).toEqual([]);
  }, 240_000);
}

describe('one edge', () => suite('local limits', () => undefined, 1, sized(900, 10_000)));

describeWithRedis('two edges over Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  suite('shared limits', () => redis, 2, sized(450, 1_500));
  afterAll(() => redis.close());
});
