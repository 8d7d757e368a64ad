import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { dataOf, socketClient } from '../graphql/support.js';
import { signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ownTime } from '../support/own-time.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { FAST, QWEN, START, type StartAnswer, type Watched, watch } from './support.js';

const CANCEL = `mutation ($input: CancelPlaygroundRunsInput!) {
  cancelPlaygroundRuns(input: $input) { session { id } } }`;
const DELETE = `mutation ($input: DeletePlaygroundSessionInput!) {
  deletePlaygroundSession(input: $input) { deletedPlaygroundSessionId } }`;

/** Two platform processes that know nothing of each other but the database and, maybe, Redis. */
function useTwo(redisOf: () => TestRedis | undefined) {
  const two = {} as { db: TestDatabase; proxy: TestProxy; platforms: TestPlatform[]; token: string };
  beforeAll(async () => {
    two.db = await createTestDatabase();
    two.proxy = await startTestProxy(two.db);
    const virtualKeys = createVirtualKeyClient({ url: two.proxy.url, masterKey: two.proxy.masterKey });
    const env = { UPSTREAM_URL: two.proxy.url, ...(redisOf() && { REDIS_URL: redisOf()!.url }) };
    two.platforms = await Promise.all([1, 2].map(() => startTestPlatform(two.db, { env, virtualKeys })));
    const { token, user } = await signUp(two.platforms[0]!.url);
    await two.db.pool.query(`update accounts set plan_id = 'team' where id = $1`, [user.id]);
    two.token = token;
  }, 60_000);
  afterAll(async () => {
    for (const platform of two.platforms) await platform.close();
    await two.proxy.close();
    await two.db.close();
  });
  const [here, there] = [() => two.platforms[0]!.url, () => two.platforms[1]!.url];
  const start = async (prompt: string, models = [FAST, QWEN]) => {
    const variables = { input: { models, prompt } };
    const answer = await dataOf<StartAnswer>(here(), START, { token: two.token, variables });
    return answer.runPlayground.session;
  };
  const client = (url: string) => socketClient(url, { token: two.token });
  return { two, here, there, start, client };
}

const ended = (one: Watched) => until(() => one.followed.ended, { what: 'the subscription to end' });
/** Of the shortest answer; 0 before each has begun. */
const lengthOf = (one: Watched, runs: number) => {
  const lengths = Object.values(one.texts()).map((text) => text.length);
  return lengths.length < runs ? 0 : Math.min(...lengths);
};

/** What holds with Redis and without: how a run ends is told everywhere, and so is that it should. */
function endsAnywhere(redisOf: () => TestRedis | undefined): void {
  const { two, there, start, client } = useTwo(redisOf);

  test('the finished runs are told by the process that does not make them', async () => {
    const session = await start('Hello. [[sim words=8]]');
    const socket = client(there());
    const watched = watch(socket, session.id);
    await ended(watched);
    expect(watched.followed.error).toBeUndefined();
    for (const run of Object.values(watched.ends())) {
      expect([run.status, watched.texts()[run.id]]).toEqual(['SUCCESS', run.responseContent]);
      expect(run.responseContent).toMatch(/\w/);
    }
    expect(Object.keys(watched.ends())).toHaveLength(2);
    await socket.dispose();
  });

  test.each([
    ['cancelled', CANCEL],
    ['deleted', DELETE],
  ])('what is %s by one process is ended upstream by the other within a second', async (_what, mutation) => {
    const before = two.proxy.simulator.stats().abandoned;
    const session = await start('Slow. [[sim words=500 ttft_ms=10 chunk_ms=30]]');
    await until(() => two.proxy.simulator.stats().running >= 2);
    const time = ownTime();
    const asked = time.now();
    await dataOf(there(), mutation, { token: two.token, variables: { input: { sessionId: session.id } } });
    await until(() => two.proxy.simulator.stats().abandoned === before + 2, { intervalMs: 5 });
    expect(time.now() - asked).toBeLessThan(1_000);
    time.stop();
  });
}

describe('runs over two platforms without Redis', () => endsAnywhere(() => undefined));

describeWithRedis('runs over two platforms with Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(() => redis.close());
  endsAnywhere(() => redis);
});

describeWithRedis('runs followed over Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterAll(() => redis.close());
  const { here, there, start, client } = useTwo(() => redis);

  test('grow elsewhere as they do here, for those who come late as well, and no text stands in Redis', async () => {
    const listener = redis.client.duplicate();
    listener.on('error', () => undefined);
    const said: string[] = [];
    listener.on('pmessage', (_pattern: string, channel: string, message: string) =>
      said.push(`${channel} ${message}`),
    );
    await listener.psubscribe('*');
    const session = await start('A long one. [[sim words=250 ttft_ms=20 chunk_ms=6]]');
    const sockets = [client(here()), client(there()), client(there())];
    const watched = [watch(sockets[0]!, session.id), watch(sockets[1]!, session.id)];
    await until(() => lengthOf(watched[1]!, 2) > 60);
    // It is told while it grows, not when it has ended.
    expect(Object.keys(watched[1]!.ends())).toEqual([]);
    watched.push(watch(sockets[2]!, session.id));
    await Promise.all(watched.map(ended));
    const [mine, theirs, late] = watched as [Watched, Watched, Watched];
    expect(theirs.texts()).toEqual(mine.texts());
    expect(late.texts()).toEqual(mine.texts());
    expect(late.events()[0]!.delta.length).toBeGreaterThan(30);
    for (const one of [theirs, late]) {
      expect(one.ends()).toEqual(mine.ends());
      expect(one.events().filter(({ delta, run }) => delta !== '' && run === null).length).toBeGreaterThan(3);
    }
    const pieces = theirs.events().flatMap(({ delta }) => (delta.length >= 12 ? [delta] : []));
    const all = said.filter((line) => line.includes('playground-session-')).join('\n');
    expect([pieces.length > 5, all.length > 1_000]).toEqual([true, true]);
    for (const piece of pieces) expect(all).not.toContain(piece);
    listener.disconnect();
    for (const socket of sockets) await socket.dispose();
  });

  test('lose nothing when Redis goes and comes back', async () => {
    const session = await start('Longer. [[sim words=120 ttft_ms=20 chunk_ms=30]]', [FAST]);
    const socket = client(there());
    const watched = watch(socket, session.id);
    await until(() => lengthOf(watched, 1) > 40);
    await redis.kill();
    await redis.start();
    await ended(watched);
    const run = watched.ends()[FAST]!;
    expect([run.status, watched.texts()[run.id]]).toEqual(['SUCCESS', run.responseContent]);
    await socket.dispose();
  });
});
