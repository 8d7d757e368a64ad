import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { expectOneCallTooMuchAtMost, lossOf, spendTogether } from '../../support/spending-edges.js';

describeWithRedis('two edges under load', () => {
  let redis: TestRedis;
  beforeEach(async () => {
    redis = await createTestRedis();
  });
  afterEach(() => redis.close());

  test.each<[string, (redis: TestRedis) => Promise<void>, mostMs: number]>([
    // An account whose state Redis has lost waits 2 s for the other edges.
    ['FLUSHALL', async ({ client }) => void (await client.flushall()), 2_600],
    [
      'a Redis killed and started again, empty',
      async (server) => {
        await server.kill();
        await server.start();
      },
      600,
    ],
    [
      'a Redis frozen for two seconds',
      async (server) => {
        server.freeze();
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        server.thaw();
      },
      600,
    ],
  ])(
    '%s: nothing hangs, the edges share again, and they overspend by one call at most',
    async (_name, fault, mostMs) => {
      expectOneCallTooMuchAtMost(
        await spendTogether(
          redis,
          lossOf(() => fault(redis)),
        ),
        mostMs,
      );
    },
  );
});
