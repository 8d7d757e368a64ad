import { createVirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { dataOf, socketClient } from '../graphql/support.js';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { freePorts } from '../support/product-edges.js';
import { productProcess } from '../support/product-process.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';
import { FAST, QWEN, type Session, START, type StartAnswer, watch } from './support.js';

describe('when a platform process ends', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  let other: TestPlatform;
  let token: string;
  const platform = (runsMayEndMs?: number) =>
    startTestPlatform(db, {
      env: { UPSTREAM_URL: proxy.url },
      virtualKeys: createVirtualKeyClient({ url: proxy.url, masterKey: proxy.masterKey }),
      ...(runsMayEndMs !== undefined && { runsMayEndMs }),
    });

  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db);
    other = await platform();
    const signed = await signUp(other.url);
    token = signed.token;
    await db.pool.query(`update accounts set plan_id = 'team' where id = $1`, [signed.user.id]);
  }, 60_000);
  afterAll(async () => {
    await other.close();
    await proxy.close();
    await db.close();
  });

  const start = async (url: string, prompt: string) => {
    const variables = { input: { models: [FAST, QWEN], prompt } };
    return (await dataOf<StartAnswer>(url, START, { token, variables })).runPlayground.session.id;
  };
  const read = async (id: string) =>
    (await call<Session>(other.url, 'GET', `/api/playground/${id}`, { token })).body.runs;

  test('runs that end soon may finish', async () => {
    const ending = await platform(15_000);
    const id = await start(ending.url, 'Soon. [[sim words=60 ttft_ms=10 chunk_ms=20]]');
    await until(() => proxy.simulator.stats().running === 2);
    await ending.close();
    expect((await read(id)).map(({ status }) => status)).toEqual(['success', 'success']);
  });

  test('other runs are ended with the reason, upstream too, and waiting callers are answered', async () => {
    const ending = await platform(200);
    const before = proxy.simulator.stats().abandoned;
    const waiting = call<Session>(ending.url, 'POST', '/api/playground', {
      token,
      body: { prompt: 'Never. [[sim delay_ms=600000]]', models: [FAST] },
    });
    await until(() => proxy.simulator.stats().running === 1);
    await ending.close();
    const { status, body } = await waiting;
    expect([status, body.runs[0]]).toEqual([
      201,
      expect.objectContaining({ status: 'error', error_message: 'The service is restarting. Run it again.' }),
    ]);
    expect(await read(body.id)).toEqual(body.runs);
    await until(() => proxy.simulator.stats().abandoned === before + 1);
  });

  test('killed, it leaves no run in progress: another process ends them and notifies followers', async () => {
    const [port] = await freePorts(1);
    const killed = productProcess('platform', {
      ...INHERITED_ENV,
      ...TEST_SECRETS,
      NODE_ENV: 'development',
      LOG_LEVEL: 'warn',
      DATABASE_URL: db.url,
      PLATFORM_PORT: String(port),
      UPSTREAM_URL: proxy.url,
    });
    await killed.start();
    const id = await start(`http://127.0.0.1:${port}`, 'Never. [[sim words=2000 ttft_ms=10 chunk_ms=100]]');
    const socket = socketClient(other.url, { token });
    const watched = watch(socket, id);
    await until(async () => (await read(id)).every(({ status }) => status === 'running'));
    // As long as it lives it says so, and nobody ends what it does.
    const lease = async () =>
      (
        await db.pool.query<{ at: string }>(
          'select max(alive_until)::text as at from playground_runs where session_id = $1',
          [id],
        )
      ).rows[0]!.at;
    const first = await lease();
    await until(async () => (await lease()) > first, { what: 'the lease to be renewed' });
    expect((await read(id)).map(({ status }) => status)).toEqual(['running', 'running']);
    await killed.end('SIGKILL');
    // The rest of the lease, which need not be waited for.
    await db.pool.query('update playground_runs set alive_until = now() where session_id = $1', [id]);
    await until(() => watched.followed.ended, { timeoutMs: 10_000, what: 'the runs to be ended' });
    for (const run of await read(id)) {
      expect(run).toMatchObject({
        status: 'error',
        error_code: 'service_unavailable',
        error_message: 'The process that made this run ended. Run it again.',
      });
    }
    expect(Object.values(watched.ends()).map(({ status }) => status)).toEqual(['ERROR', 'ERROR']);
    await socket.dispose();
  });
});
