import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { testClock } from '../../support/clock.js';
import {
  exhaust,
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
  outcomeOf,
  UNIT,
} from '../../support/limits.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { soonerThan } from '../../support/sooner-than.js';
import { createTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

const MEMBERSHIP = 'gw:edges';
const FLOOR = DOLLAR / 1000n;
const PATIENCE = { redisMs: 10_000, queueMs: 250, beatMs: 500 };
/** On the way back Redis is waited for a second. */
const ANSWER_MS = 800;

/** Requirement F11: the way back to limits that are shared. */
describeWithRedis('edges on their way back to Redis', () => {
  let redis: TestRedis;
  const edges: LimitsEdge[] = [];
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterEach(async () => {
    for (const edge of edges.splice(0)) await edge.limits.stop();
    await redis.client.flushall();
  });
  afterAll(() => redis.close());

  const gauge = async ({ registry }: LimitsEdge, name: string): Promise<number> =>
    (await registry.getSingleMetric(name)!.get()).values[0]!.value;
  const shared = async (edge: LimitsEdge): Promise<boolean> =>
    (await gauge(edge, 'gateway_limits_shared')) === 1;
  const lastBeat = async ({ identity }: LimitsEdge): Promise<number> =>
    Number((await redis.client.zscore(MEMBERSHIP, identity.id)) ?? 0);

  /** What the others know of an edge that has been suspended for so long. */
  const silence = async ({ identity }: LimitsEdge, seconds: number): Promise<void> => {
    const [now] = await redis.client.time();
    await redis.client.zadd(MEMBERSHIP, 1_000 * (Number(now) - seconds), identity.id);
  };

  const two = (...each: LimitsEdgeOptions[]): Promise<[LimitsEdge, LimitsEdge]> =>
    start(new Ledger(DOLLAR), ...each);
  async function start(ledger: Ledger, ...each: LimitsEdgeOptions[]): Promise<[LimitsEdge, LimitsEdge]> {
    const same = { redisUrl: redis.url, accountId: newId(), keyId: newId(), patience: PATIENCE };
    for (const options of each) edges.push(await limitsEdge(ledger, { ...same, ...options }));
    const alive = async () => Promise.all(edges.map((edge) => gauge(edge, 'gateway_edges_alive')));
    await until(async () => (await alive()).every((count) => count === each.length));
    return edges as [LimitsEdge, LimitsEdge];
  }

  /** Number of calls of the last minute that Redis has of an account. */
  const reported = ({ entry }: LimitsEdge): Promise<number> =>
    redis.client.zcard(`gw:{${entry.account.id}}:rate`);

  /** An edge that has reported its 50 calls to an emptied Redis, and does not share limits yet. */
  async function returning(options: LimitsEdgeOptions = {}): Promise<LimitsEdge> {
    const patience = { ...PATIENCE, beatMs: 1_000 };
    const [one] = await start(new Ledger(DOLLAR), { requestsPerMinute: 100, patience, ...options });
    for (let call = 0; call < 50; call++) await one.admit(1);
    await redis.kill();
    await until(async () => !(await shared(one)));
    await redis.start();
    await until(async () => (await reported(one)) === 50);
    return one;
  }

  test('an edge that others counted as dead shares again at once, since Redis has lost nothing', async () => {
    // An edge that considers Redis emptied waits three seconds.
    const options = { requestsPerMinute: 400, patience: { ...PATIENCE, beatMs: 2_000 } };
    const [one, other] = await two(options, options);
    await one.admit(1);
    const before = await lastBeat(one);
    other.identity.notifyCommitted([one.identity.id]);
    await until(async () => (await lastBeat(one)) < before);
    await other.admit(1);
    await one.admit(1);
    await soonerThan(1_000, () => shared(one), 'limits are shared again');
    expect((await exhaust(one))[0] + (await exhaust(other))[0]).toBe(397);
  }, 60_000);

  test('the minute of an edge that is back later counts when Redis comes back empty', async () => {
    const link = await createTcpProxy(Number(new URL(redis.url).port));
    const options = { requestsPerMinute: 100 };
    const [one, other] = await two(options, { ...options, redisUrl: link.urlOf(redis.url) });
    for (let call = 0; call < 50; call++) {
      await one.admit(1);
      await other.admit(1);
    }
    await redis.kill();
    await until(async () => !(await shared(one)) && !(await shared(other)));
    link.freeze();
    await redis.start();
    // The other registers just before the one stops waiting for edges it doesn't know of.
    const first = await until(() => lastBeat(one));
    await until(async () => (await lastBeat(one)) > first + PATIENCE.beatMs);
    link.restore();
    await until(() => shared(one));
    expect(await exhaust(one)).toEqual([0, 'rate_limit_exceeded']);
    await until(() => shared(other));
    expect(await exhaust(other)).toEqual([0, 'rate_limit_exceeded']);
    await link.close();
  }, 60_000);

  test('calls that an edge admits alone during recovery count', async () => {
    const one = await returning();
    for (let call = 0; call < 10; call++) await one.admit(1);
    expect(await shared(one)).toBe(false);
    await until(() => shared(one));
    expect(await reported(one)).toBe(60);
    expect(await exhaust(one)).toEqual([40, 'rate_limit_exceeded']);
  }, 60_000);

  test('calls that an edge admits alone during recovery count although its clock steps back', async () => {
    const clock = testClock();
    const one = await returning({ clock });
    clock.advance(-500);
    for (let call = 0; call < 10; call++) await one.admit(1);
    clock.advance(700);
    expect(await shared(one)).toBe(false);
    await until(() => shared(one));
    expect(await reported(one)).toBe(60);
  }, 60_000);

  test('recovery starts over when Redis is emptied a second time', async () => {
    const one = await returning();
    await until(async () => (await lastBeat(one)) > 0);
    await redis.client.flushall();
    await until(() => shared(one));
    expect(await reported(one)).toBe(50);
  }, 60_000);

  test('recovery waits for a slow Redis instead of starting over', async () => {
    let looks = 0;
    let follows = (): void => undefined;
    const link = await createTcpProxy(Number(new URL(redis.url).port), (bytes) => {
      if (looks > 0) follows();
      if (bytes.includes('\r\nlook\r\n')) looks++;
    });
    const patience = { ...PATIENCE, redisMs: 50 };
    const [one] = await start(new Ledger(DOLLAR), { redisUrl: link.urlOf(redis.url), patience });
    const open = await Promise.all(Array.from({ length: 10 }, () => one.admit(1)));
    link.cut();
    await until(async () => !(await shared(one)));
    looks = 0;
    let frozenAt = 0;
    follows = () => {
      frozenAt ||= performance.now();
      link.freeze();
    };
    link.restore();
    await until(() => looks > 0);
    // Each report is a script of its own and gets no answer.
    for (const admission of open) {
      one.settle(admission, UNIT);
      await pause(patience.redisMs / 2);
    }
    follows = () => undefined;
    const frozenMs = performance.now() - frozenAt;
    link.restore();
    await until(() => shared(one));
    // On a busy machine it may have been frozen for longer than the way back waits for an answer.
    if (frozenMs < ANSWER_MS) expect(looks).toBe(1);
    await link.close();
  }, 60_000);

  test('the holds of a suspended edge count until its calls must be over', async () => {
    const asleep = { patience: { ...PATIENCE, beatMs: 600_000 } };
    const [other, one] = await start(new Ledger(FLOOR + 400n * UNIT), {}, asleep);
    for (let call = 0; call < 3; call++) await one.admit(30);
    await silence(one, 20);
    await until(async () => (await gauge(other, 'gateway_edges_alive')) === 1);
    expect(await exhaust(other)).toEqual([311, 'insufficient_credits']);
    await silence(one, 70);
    await until(async () => (await outcomeOf(other.admit(1))) === 'admitted');
    expect(await exhaust(other)).toEqual([89, 'insufficient_credits']);
  }, 60_000);

  test('an edge that is back keeps its holds, even if another edge has not noticed its return', async () => {
    const [other, one] = await start(
      new Ledger(FLOOR + 1_000n * UNIT),
      { patience: { ...PATIENCE, beatMs: 2_000 } },
      { patience: { ...PATIENCE, beatMs: 600_000 } },
    );
    await one.admit(900);
    await until(async () => {
      await silence(one, 70);
      return (await gauge(other, 'gateway_edges_alive')) === 1;
    });
    // Reporting a dead edge makes this one send a heartbeat.
    one.identity.notifyCommitted(['another']);
    await until(() => one.log.at(-1) === 'Redis is back; limits are shared again', { intervalMs: 1 });
    expect(await exhaust(other)).toEqual([101, 'insufficient_credits']);
  }, 60_000);
});
