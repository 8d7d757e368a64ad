import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { openOrm } from '../../src/db/orm.js';
import { databaseReadiness } from '../../src/db/readiness.js';
import { createRegistry, startMetricsListener } from '../../src/lib/metrics.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ownTime } from '../support/own-time.js';

describe('the readiness of a process that needs the database', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test("is false while the schema isn't this build's, and true again afterwards", async () => {
    const ready = databaseReadiness(db.orm, { cacheMs: 0 });
    expect(await ready()).toBe(true);
    await db.pool.query('alter table mikro_orm_migrations rename to away');
    expect(await ready()).toBe(false);
    await db.pool.query('alter table away rename to mikro_orm_migrations');
    expect(await ready()).toBe(true);
  });

  test('costs one query, however many probes there are', async () => {
    const ready = databaseReadiness(db.orm, { cacheMs: 60_000 });
    await Promise.all([ready(), ready(), ready()]);
    await db.pool.query('alter table mikro_orm_migrations rename to away');
    expect(await ready()).toBe(true);
    await db.pool.query('alter table away rename to mikro_orm_migrations');
  });

  test('is false in time if the server accepts connections and never responds', async () => {
    const sockets = new Set<Socket>();
    const silent: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const orm = openOrm({ databaseUrl: `postgres://u@127.0.0.1:${port}/x`, processName: 'test' });
    const time = ownTime();
    const began = time.now();
    expect(await databaseReadiness(orm, { timeoutMs: 200 })()).toBe(false);
    expect(time.now() - began).toBeLessThan(2_000);
    time.stop();
    for (const socket of sockets) socket.destroy();
    await orm.close(true);
    await new Promise((resolve) => silent.close(resolve));
  });

  test('is reported by the metrics port, where an error counts as false', async () => {
    const states = [async () => true, async () => false, () => Promise.reject(new Error('away'))];
    const answers = [];
    for (const ready of states) {
      const server = await startMetricsListener({
        registry: createRegistry('test'),
        host: '127.0.0.1',
        port: 0,
        ready,
      });
      const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/health/ready`);
      answers.push([response.status, await response.json()]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    expect(answers).toEqual([
      [200, { status: 'ok' }],
      [503, { status: 'unavailable' }],
      [503, { status: 'unavailable' }],
    ]);
  });
});
