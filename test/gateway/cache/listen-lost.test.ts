import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey } from '../../support/edge.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.js';
import { soonerThan } from '../../support/sooner-than.js';
import { createTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

/** Requirement G10: with notifications lost a change is effective within this. */
const LOST_MS = 5_000;

describe('an edge that loses the connection for notifications', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let link: TcpProxy;
  let edge: TestEdge;
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
    link = await createTcpProxy(Number(new URL(db.url).port));
    // The edge's pool is the test's own: only LISTEN goes through the link.
    edge = await startTestEdge(db, { upstreamUrl: upstream.url, env: { DATABASE_URL: link.urlOf(db.url) } });
  });
  afterAll(async () => {
    await edge.close();
    await link.close();
    await upstream.close();
    await db.close();
  });
  afterEach(async () => {
    link.restore();
    await until(listening);
  });

  const listening = async () => {
    const health = (await (await fetch(`${edge.url}/health`)).json()) as { degraded?: boolean };
    return health.degraded !== true;
  };
  const status = async ({ key }: TestKey) => {
    const answer = await fetch(`${edge.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  const disable = (caller: TestKey) =>
    db.pool.query(
      `with changed as (update api_keys set status = 'disabled' where id = $1 returning id)
       select pg_notify('gateway_invalidate', 'key:' || id) from changed`,
      [caller.keyId],
    );

  test.each(['cut', 'freeze'] as const)(
    'a change is effective within 5 s after a %s, whether or not the key is in use',
    async (fault) => {
      const [busy, quiet] = [await createTestKey(db), await createTestKey(db)];
      await until(listening);
      expect([await status(busy), await status(quiet)]).toEqual([200, 200]);
      link[fault]();
      const changed = Date.now();
      await Promise.all([busy, quiet].map(disable));
      await until(async () => (await status(busy)) === 401, { timeoutMs: LOST_MS, what: 'the change' });
      await until(async () => Date.now() - changed >= LOST_MS || (await status(busy)) !== 401, {
        timeoutMs: LOST_MS + 1_000,
        intervalMs: 100,
      });
      expect([await status(busy), await status(quiet)]).toEqual([401, 401]);
    },
  );

  test('all keys are read again as soon as the connection is back', async () => {
    const callers = await Promise.all(Array.from({ length: 20 }, () => createTestKey(db)));
    await until(listening);
    for (const caller of callers) expect(await status(caller)).toBe(200);
    link.cut();
    await until(async () => !(await listening()));
    await Promise.all(callers.map(disable));
    link.restore();
    await until(listening, { intervalMs: 5 });
    // Keys in use are read again every 2.5 s in any case, and entries live for up to 5 s.
    const areRefused = async () => (await Promise.all(callers.map(status))).every((code) => code === 401);
    await soonerThan(500, areRefused, 'every key to be refused');
  });
});
