import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { signUpAdmin } from '../support/admin.js';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { postChat, startTestEdge, type TestEdge } from '../support/edge.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../support/redis.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { type Followed, follow, socketClient } from './support.js';

const USAGE = 'subscription { usageRecorded { id } }';

const CHANGES = 'subscription { accountChanged { changed balanceUsd } }';

interface Changed {
  accountChanged: { changed: string[]; balanceUsd: string };
}

interface Recorded {
  usageRecorded: { id: string };
}
const idsOf = ({ results }: Followed<Recorded>): string[] =>
  results.map(({ data }) => data!.usageRecorded.id);

/** Two platform processes and two edges that know nothing of each other but the database and, maybe, Redis. */
function useTwo(redisOf: () => TestRedis | undefined) {
  const two = {} as { db: TestDatabase; proxy: TestProxy; platforms: TestPlatform[]; edges: TestEdge[] };
  beforeAll(async () => {
    const env = (redisOf() && { REDIS_URL: redisOf()!.url }) as Record<string, string>;
    two.db = await createTestDatabase();
    two.proxy = await startTestProxy(two.db);
    const virtualKeys = createVirtualKeyClient({ url: two.proxy.url, masterKey: two.proxy.masterKey });
    const platform = () =>
      startTestPlatform(two.db, { env: { ...env, UPSTREAM_URL: two.proxy.url }, virtualKeys });
    two.platforms = [await platform(), await platform()];
    const edge = (at: TestPlatform) =>
      startTestEdge(two.db, { upstreamUrl: two.proxy.url, platformUrl: at.url, env: { ...env } });
    two.edges = [await edge(two.platforms[0]!), await edge(two.platforms[1]!)];
  });
  afterAll(async () => {
    for (const edge of two.edges) await edge.close();
    for (const platform of two.platforms) await platform.close();
    await two.proxy.close();
    await two.db.close();
  });

  const customer = async (): Promise<{ token: string; key: string }> => {
    const { token, user } = await signUp(two.edges[0]!.url);
    // On a busy machine it may take many calls until a subscription has begun.
    await two.db.pool.query(`update accounts set plan_id = 'team' where id = $1`, [user.id]);
    const made = await call<{ key: string }>(two.edges[0]!.url, 'POST', '/api/keys', {
      token,
      body: { name: 'x' },
    });
    return { token, key: made.body.key };
  };
  /** Follows at both, and calls until both have reported something: then both have begun. */
  const followed = async (token: string, key: string) => {
    const clients = two.edges.map(({ url }) => socketClient(url, { token }));
    const both = clients.map((client) => follow<Recorded>(client, USAGE));
    await until(async () => {
      await postChat(two.edges[0]!.url, key);
      await until(() => both.every(({ results }) => results.length > 0), { timeoutMs: 300 }).catch(
        () => undefined,
      );
      return both.every(({ results }) => results.length > 0);
    });
    return {
      both,
      leave: async () => {
        for (const client of clients) await client.dispose();
      },
    };
  };
  return { two, customer, followed };
}

const seenOnBoth = (redisOf: () => TestRedis | undefined): void => {
  const { two, customer, followed } = useTwo(redisOf);

  test('both platforms report a call at either edge, once', async () => {
    const { token, key } = await customer();
    const { both, leave } = await followed(token, key);
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) {
      const answer = await postChat(two.edges[n % 2]!.url, key);
      ids.push(answer.headers.get('x-request-id')!);
    }
    for (const one of both) {
      await until(() => ids.every((id) => idsOf(one).includes(id)), { what: 'all six' });
      expect(new Set(idsOf(one)).size).toBe(one.results.length);
    }
    await leave();
  });

  test('both report a top-up at one platform', async () => {
    const { token } = await customer();
    const clients = two.edges.map(({ url }) => socketClient(url, { token }));
    const both = clients.map((client) => follow<Changed>(client, CHANGES));
    // Until both tell of a new key: a subscription that has begun says nothing by itself.
    await until(async () => {
      await call(two.edges[0]!.url, 'POST', '/api/keys', { token, body: { name: 'x' } });
      const reported = () => both.every(({ results }) => results.length > 0);
      await until(reported, { timeoutMs: 300 }).catch(() => undefined);
      return reported();
    });
    await call(two.edges[0]!.url, 'POST', '/api/billing/topup', { token, body: { amount_usd: 10 } });
    for (const { results } of both) {
      const topUps = () =>
        results
          .map(({ data }) => data!.accountChanged)
          .filter(({ changed }) => changed.includes('BALANCE'))
          .map(({ balanceUsd }) => balanceUsd);
      // Sooner than a lost signal would be made good.
      await soonerThan(10_000, () => topUps().length > 0, 'the top-up');
      expect(topUps()).toEqual(['11.000000']);
    }
    for (const client of clients) await client.dispose();
  });

  test.each([
    ['logs out', (token: string) => call(two.edges[0]!.url, 'POST', '/api/auth/logout', { token })],
    [
      'is disabled',
      async (token: string) => {
        const me = await call<{ id: string }>(two.edges[0]!.url, 'GET', '/api/auth/me', { token });
        const admin = await signUpAdmin({ db: two.db, url: two.edges[0]!.url });
        const path = `/api/admin/users/${me.body.id}`;
        return call(two.edges[0]!.url, 'PATCH', path, { token: admin.token, body: { status: 'disabled' } });
      },
    ],
  ])('an account that %s at one is cut off at the other', async (_what, end) => {
    const { token, key } = await customer();
    const { both } = await followed(token, key);
    expect((await end(token)).status).toBeLessThan(300);
    await soonerThan(2_000, () => both.every(({ ended }) => ended), 'both are closed');
    for (const { error } of both) expect(error).toMatchObject({ code: 4403 });
  });
};

describe('two platforms over PostgreSQL', () => seenOnBoth(() => undefined));

describeWithRedis('two platforms over Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(async () => {
    await redis.close();
  });
  seenOnBoth(() => redis);
});

describeWithRedis('two platforms whose Redis comes and goes', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(async () => {
    await redis.close();
  });
  const { two, customer, followed } = useTwo(() => redis);

  test('changes during the outage are reported afterwards, once', async () => {
    const { token, key } = await customer();
    const { both, leave } = await followed(token, key);
    await redis.kill();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const answer = await postChat(two.edges[0]!.url, key);
      ids.push(answer.headers.get('x-request-id')!);
    }
    await two.edges[0]!.settled();
    await redis.start();
    for (const one of both) {
      await until(() => ids.every((id) => idsOf(one).includes(id)), { what: 'all three' });
      expect(new Set(idsOf(one)).size).toBe(one.results.length);
    }
    await leave();
  });
});
