import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { type Listener, listen } from '../../src/db/listen.js';
import { holdLeaderLock, type LeaderLock } from '../../src/gateway/leader-lock.js';
import { createLogger } from '../../src/lib/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { resetSocket } from '../support/reset-socket.js';
import { soonerThan } from '../support/sooner-than.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** Connections that last as long as the process, over a link that fails: requirements F9, R8. */
const log = createLogger('test', 'silent');

/** Waits for an end that the link must not delay. */
async function expectSoon(end: Promise<void>): Promise<void> {
  let over = false;
  const ending = end.then(() => {
    over = true;
  });
  await soonerThan(2_000, () => over, 'the end');
  await ending;
}

describe('over a link that fails', () => {
  let db: TestDatabase;
  let link: TcpProxy;
  let url: string;
  beforeEach(async () => {
    db = await createTestDatabase();
    link = await createTcpProxy(Number(new URL(db.url).port));
    url = link.urlOf(db.url);
  });
  afterEach(async () => {
    link.restore();
    await link.close();
    await db.close();
  });

  describe('notifications', () => {
    let listener: Listener;
    let heard: string[];
    let reconnects: number;
    beforeEach(async () => {
      heard = [];
      // The first connection isn't a reconnection.
      reconnects = -1;
      listener = listen({
        databaseUrl: url,
        channel: 'test_channel',
        log,
        onNotify: (payload) => heard.push(payload),
        onListening: () => reconnects++,
      });
      await until(() => listener.connected());
    });
    const notify = (text: string) => db.pool.query('select pg_notify($1, $2)', ['test_channel', text]);

    test('return after a reset, after which everything is to be read again', async () => {
      link.reset();
      await until(() => reconnects >= 1);
      await notify('after');
      await until(() => heard.includes('after'));
      await listener.stop();
    });

    test('count as missing within 5 s when the link freezes, and return when it thaws', async () => {
      link.freeze();
      await soonerThan(5_000, () => !listener.connected(), 'the loss to be known');
      link.restore();
      await until(() => reconnects >= 1);
      await notify('thawed');
      await until(() => heard.includes('thawed'));
      await listener.stop();
    });

    test('do not delay the end of a process while the link is frozen', async () => {
      link.freeze();
      await expectSoon(listener.stop());
    });
  });

  describe('the lock of the one edge', () => {
    let lock: LeaderLock;
    beforeEach(async () => {
      lock = await holdLeaderLock(url, log);
    });
    const holders = async () =>
      (
        await db.pool.query(
          `select l.pid from pg_locks l join pg_database d on d.oid = l.database
           where locktype = 'advisory' and granted and d.datname = current_database()`,
        )
      ).rows.map(({ pid }: { pid: number }) => pid);

    test('is taken again after a reset, and a second edge stays out', async () => {
      const [before] = await holders();
      link.reset();
      await until(async () => {
        const [now] = await holders();
        return now !== undefined && now !== before;
      });
      await expect(holdLeaderLock(db.url, log, 200)).rejects.toThrow('another edge is running');
      await lock.release();
      const second = await holdLeaderLock(db.url, log, 5_000);
      await second.release();
    });

    test('does not delay the end of a process while the link is frozen', async () => {
      link.freeze();
      await expectSoon(lock.release());
    });

    test('does not block a start forever over a frozen link', async () => {
      link.freeze();
      await expect(holdLeaderLock(url, log, 1_000)).rejects.toThrow();
      link.restore();
      await lock.release();
    });
  });
});

test('a connection that is reset during its goodbye is closed', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  socket.end('goodbye');
  resetSocket(socket);
  await closed;
  server.close();
  await once(server, 'close');
});
