import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { dataOf, socketClient } from '../graphql/support.js';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { ownTime } from '../support/own-time.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { freePorts } from '../support/product-edges.js';
import { productProcess } from '../support/product-process.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../support/redis.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import {
  CODE,
  FAST,
  PRO,
  QWEN,
  type Session,
  START,
  type StartAnswer,
  type Watched,
  watch,
} from './support.js';

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

/** With and without Redis: ends and cancellations of runs reach every process. */
function endsAnywhere(redisOf: () => TestRedis | undefined): void {
  const { two, there, start, client } = useTwo(redisOf);

  test("the process that doesn't make the runs reports their ends", async () => {
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
  ])('runs %s by one process are ended upstream by the other within a second', async (_what, mutation) => {
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
  const { two, here, there, start, client } = useTwo(() => redis);

  test('grow elsewhere as they do here, for late followers as well, and no plain text is in Redis', async () => {
    const listener = redis.client.duplicate();
    listener.on('error', () => undefined);
    const messages: string[] = [];
    listener.on('pmessage', (_pattern: string, channel: string, message: string) =>
      messages.push(`${channel} ${message}`),
    );
    await listener.psubscribe('*');
    const session = await start('A long one. [[sim words=500 ttft_ms=20 chunk_ms=6]]');
    const sockets = [client(here()), client(there()), client(there())];
    const watched = [watch(sockets[0]!, session.id), watch(sockets[1]!, session.id)];
    await until(() => lengthOf(watched[1]!, 2) > 60);
    // Text is sent while it grows, not when it has ended.
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
    const all = messages.filter((line) => line.includes('playground-session-')).join('\n');
    expect([pieces.length > 5, all.length > 1_000]).toEqual([true, true]);
    for (const piece of pieces) expect(all).not.toContain(piece);
    listener.disconnect();
    for (const socket of sockets) await socket.dispose();
  });

  test('lose nothing when Redis fails and comes back', async () => {
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

  test(
    'after a process is killed during its runs, every subscriber ends with the same text',
    async () => {
      const [port] = await freePorts(1);
      const url = `http://127.0.0.1:${port}`;
      const killed = productProcess('platform', {
        ...INHERITED_ENV,
        ...TEST_SECRETS,
        NODE_ENV: 'development',
        LOG_LEVEL: 'warn',
        DATABASE_URL: two.db.url,
        PLATFORM_PORT: String(port),
        UPSTREAM_URL: two.proxy.url,
        REDIS_URL: redis.url,
      });
      await killed.start();
      // Of each account one session on the process that is killed or on one that stays, and subscribers of both.
      const crowds = await Promise.all(
        Array.from({ length: sized(2, 13) }, async (_, n) => {
          const { token, user } = await signUp(here());
          await two.db.pool.query(`update accounts set plan_id = 'team' where id = $1`, [user.id]);
          const variables = {
            input: {
              models: [FAST, QWEN, PRO, CODE],
              // Long enough to be killed in the middle; those of the other process end by themselves.
              prompt:
                n % 2 === 0 ? 'On. [[sim words=3000 chunk_ms=20]]' : 'On. [[sim words=150 chunk_ms=20]]',
            },
          };
          const started = await dataOf<StartAnswer>(n % 2 === 0 ? url : here(), START, { token, variables });
          const { id, runs } = started.runPlayground.session;
          const [lost, kept] = [url, there()].map((at) => socketClient(at, { token }));
          const follow = (socket: typeof lost) =>
            Array.from({ length: sized(4, 8) }, () => watch(socket!, id));
          return { token, id, runs: runs.length, kept, lost: follow(lost), stayed: follow(kept) };
        }),
      );
      const inTheMiddle = ({ lost, stayed, runs }: (typeof crowds)[number]): boolean =>
        [...lost, ...stayed].every((one) => lengthOf(one, runs) > 0);
      await until(() => crowds.every(inTheMiddle), { timeoutMs: 20_000, what: 'text for every subscriber' });
      await killed.end('SIGKILL');
      // The rest of the leases, which need not be waited for.
      await two.db.pool.query(
        `update playground_runs set alive_until = now() where session_id = any($1) and status in ('pending', 'running')`,
        [crowds.filter((_, n) => n % 2 === 0).map(({ id }) => id)],
      );
      for (const crowd of crowds) {
        await until(() => crowd.lost.every(({ followed }) => followed.ended), {
          what: 'the sockets to close',
        });
        // They come back, to another process.
        const socket = socketClient(here(), { token: crowd.token });
        const back = crowd.lost.map(() => watch(socket, crowd.id));
        const all = [...crowd.stayed, ...back];
        await Promise.all(
          all.map((one) => until(() => one.followed.ended, { timeoutMs: 30_000, what: 'the runs to end' })),
        );
        const session = await call<Session>(here(), 'GET', `/api/playground/${crowd.id}`, {
          token: crowd.token,
        });
        const texts = Object.fromEntries(
          session.body.runs.map(({ id, response_content: text }) => [id, text ?? '']),
        );
        for (const one of all) {
          expect(one.texts()).toEqual(texts);
          expect(Object.keys(one.ends())).toHaveLength(crowd.runs);
          expect(one.ends()).toEqual(all[0]!.ends());
        }
        await Promise.all([socket.dispose(), crowd.kept!.dispose()]);
      }
    },
    sized(60_000, 180_000),
  );
});
