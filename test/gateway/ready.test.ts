import { openOrm } from '../../src/db/orm.js';
import { testClock } from '../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, errorOf, postChat, startTestEdge, type TestEdge } from '../support/edge.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

describe('/health/ready of the edge', () => {
  const clock = testClock();
  let db: TestDatabase;
  let link: TcpProxy;
  let overLink: TestDatabase;
  let upstream: ScriptedUpstream;
  let edge: TestEdge;
  beforeAll(async () => {
    db = await createTestDatabase();
    link = await createTcpProxy(Number(new URL(db.url).port));
    const url = link.urlOf(db.url);
    const orm = openOrm({ databaseUrl: url, processName: 'test' });
    overLink = { ...db, url, orm, sql: orm };
    upstream = await startScriptedUpstream();
    edge = await startTestEdge(overLink, { upstreamUrl: upstream.url, clock });
  });
  afterAll(async () => {
    link.restore();
    await edge.close();
    await overLink.orm.close(true);
    await link.close();
    await upstream.close();
    await db.close();
  });

  const ready = async () => (await fetch(`${edge.url}/health/ready`)).status;
  const healthy = async () => (await fetch(`${edge.url}/health`)).status;

  test('is 200 as long as known keys are served without the database, then 503, and 200 again when the database is back', async () => {
    const { key } = await createTestKey(db);
    expect((await postChat(edge.url, key)).status).toBe(200);
    await edge.settled();
    link.cut();
    clock.advance(59_000);
    expect((await postChat(edge.url, key)).status).toBe(200);
    expect(await ready()).toBe(200);
    clock.advance(2_000);
    const refused = await postChat(edge.url, key);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await errorOf(refused)).code).toBe('service_unavailable');
    expect(await ready()).toBe(503);
    expect(edge.edge.ready()).toBe(false);
    // The process itself is well: a restart would not help.
    expect(await healthy()).toBe(200);
    link.restore();
    await until(async () => (await ready()) === 200, { what: 'the edge to be ready again' });
    expect((await postChat(edge.url, key)).status).toBe(200);
  });
});
