import { newId } from '../../../src/lib/ids.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { Ledger, type LimitsEdge, limitsEdge, UNIT } from '../../support/limits.js';
import { type OwnTime, ownTime } from '../../support/own-time.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
/** As in the product, with more heartbeats: the edges agree sooner. */
const PATIENCE = { redisMs: 50, queueMs: 250, beatMs: 100 };
const WORKERS = 20;
/** Holds of which an edge that is alone may have many open, and that spend the balance in some hundred calls. */
const UNITS = 100;
const COST = UNIT * BigInt(UNITS);

describeWithRedis('two edges under load', () => {
  let redis: TestRedis;
  let time: OwnTime;
  beforeEach(async () => {
    redis = await createTestRedis();
    time = ownTime();
  });
  afterEach(async () => {
    time.stop();
    await redis.close();
  });

  const isShared = (edge: LimitsEdge): boolean => /limits are shared/.test(edge.log.at(-1)!);

  /** Calls without end: each holds the same and costs what `cost` says; gives the longest that one took to be decided. */
  async function work(edge: LimitsEdge, cost: () => bigint, over: () => boolean): Promise<number> {
    let slowest = 0;
    while (!over()) {
      // Decided locally a call takes no turn of the event loop: others would never get theirs.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const since = time.now();
      const admission = await edge.admit(UNITS).catch(() => undefined);
      slowest = Math.max(slowest, time.now() - since);
      if (admission) edge.settle(admission, cost());
      if (edge.pending.length > 20) edge.flush();
    }
    return slowest;
  }

  test.each<[string, (redis: TestRedis) => Promise<void>]>([
    ['FLUSHALL', async ({ client }) => void (await client.flushall())],
    [
      'a Redis killed and started again, empty',
      async (server) => {
        await server.kill();
        await server.start();
      },
    ],
    [
      'a Redis frozen for two seconds',
      async (server) => {
        server.freeze();
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        server.thaw();
      },
    ],
  ])(
    '%s: nothing hangs, the edges agree again, and spend one call too much at most',
    async (_name, fault) => {
      const ledger = new Ledger(FLOOR + UNIT * 30_000n);
      const same = { redisUrl: redis.url, accountId: newId(), keyId: newId(), patience: PATIENCE };
      const edges = [await limitsEdge(ledger, same), await limitsEdge(ledger, same)];
      let cost = 1n;
      let over = false;
      const workers = edges.flatMap((edge) =>
        Array.from({ length: WORKERS }, () =>
          work(
            edge,
            () => cost,
            () => over,
          ),
        ),
      );
      await until(() => ledger.seq > 500n, { what: 'load' });
      // A busy machine may have kept Redis before: then an edge has a loss to end, and not one to begin.
      await until(() => edges.every(isShared), { what: 'both edges to share' });
      const before = edges.map(({ log }) => log.length);
      await fault(redis);
      await until(() => edges.every((edge, i) => edge.log.length >= before[i]! + 2 && isShared(edge)), {
        what: 'both edges to share again',
      });
      // Now it costs as much as it may: the balance runs out.
      cost = COST;
      await until(() => {
        for (const edge of edges) edge.flush();
        return ledger.balance < FLOOR;
      });
      over = true;
      const slowest = Math.max(...(await Promise.all(workers)));
      for (const edge of edges) edge.flush();
      // However often a busy machine kept Redis once more.
      expect(ledger.balance).toBeGreaterThanOrEqual(FLOOR - COST);
      // A wait of a quarter of a second for room, and 50 ms for Redis, in a busy process.
      expect(slowest).toBeLessThan(600);
      for (const edge of edges) {
        // A busy machine may keep Redis for longer than 50 ms once more: each loss is told, and each end of one.
        const [shared, ...losses] = edge.log;
        expect(shared).toBe('limits are shared through Redis');
        expect(losses.length).toBeGreaterThanOrEqual(2);
        expect(losses).toEqual(losses.map((_line, i) => losses[i % 2]));
        expect(losses.at(-1)).toBe('Redis is back; limits are shared again');
      }
      await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
      for (const edge of edges) {
        expect(edge.entry.account).toMatchObject({ holds: 0n, pending: 0n, asked: 0n });
        await edge.limits.stop();
      }
    },
  );
});
