import { createTestKey, postChat, type TestKey } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { chat } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';
import { bodyBytesOf, chatBody, Upload } from '../../support/upload.js';

const MIB = 2 ** 20;
/** With two accounts, thirteen each, all that the budget had when announced lengths took their part of it. */
const UPLOADS = 26;
const ANNOUNCED = Math.floor((128 * MIB) / 13);

describe('what the body of a call holds of the budget comes back when its client leaves', () => {
  const suite = useEdge({ patience: { redisMs: 50, queueMs: 20_000 } });
  const used = () => bodyBytesOf(suite.edge);
  const start = (caller: TestKey, length: number, asked = true) =>
    Upload.start(suite.edge.url, caller.key, { length, asked });
  const nothingHeld = () => until(async () => (await used()) === 0, { what: 'the budget to be free' });
  beforeEach(() => suite.upstream.answer(chat()));

  const tcpSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

  test('while its key is looked up in a slow database', async () => {
    const callers = [await createTestKey(suite.db), await createTestKey(suite.db)];
    const victim = await createTestKey(suite.db);
    const before = tcpSockets();
    const locker = await suite.db.pool.connect();
    await locker.query('begin');
    await locker.query('lock table api_keys in access exclusive mode');
    const uploads = await Promise.all(
      Array.from({ length: UPLOADS }, (_, i) => start(callers[i % 2]!, ANNOUNCED, false)),
    );
    await until(async () => {
      const waiting = await locker.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      // On a slow machine the question may have been given up and asked once more.
      return waiting.rowCount! > 0;
    });
    for (const { socket } of uploads) socket.destroy();
    // Both ends of each connection.
    await until(() => tcpSockets() <= before + 1, { what: 'the edge to see them leave' });
    await locker.query('commit');
    locker.release();
    expect((await postChat(suite.edge.url, victim.key)).status).toBe(200);
    await nothingHeld();
  });

  test('before the first byte of the body, and in its middle', async () => {
    const caller = await createTestKey(suite.db);
    for (const sent of [0, 1, 100_000]) {
      const upload = await start(caller, 200_000);
      if (sent > 0) {
        upload.send('x'.repeat(sent));
        await until(async () => (await used()) >= sent);
      }
      upload.socket.destroy();
      await nothingHeld();
    }
  });

  test('while its body is checked in turns', async () => {
    const caller = await createTestKey(suite.db);
    const body = chatBody(8 * MIB);
    for (let i = 0; i < 5; i++) {
      const upload = await start(caller, body.length);
      upload.send(body);
      await until(async () => (await used()) >= (i + 1) * MIB, { intervalMs: 0 });
      upload.socket.destroy();
      await nothingHeld();
    }
  });

  test('while it waits for the hold of another call', async () => {
    const { key, accountId, keyId } = await createTestKey(suite.db, { balance: '0.002' });
    suite.upstream.answer(() => undefined);
    const held = await start({ key, accountId, keyId }, 1_000);
    held.send(chatBody(1_000, { max_tokens: 8_000 }));
    await until(() => suite.upstream.seen.some(({ body }) => body.includes('8000')));
    const base = await used();
    const waiting = await start({ key, accountId, keyId }, 50_000);
    waiting.send(chatBody(50_000));
    await until(async () => (await used()) >= base + 50_000);
    waiting.socket.destroy();
    await until(async () => (await used()) === base);
    held.socket.destroy();
    await nothingHeld();
  });

  test('while its answer waits for the one ahead on the same connection: the upstream is cut too', async () => {
    const caller = await createTestKey(suite.db);
    const before = suite.upstream.seen.length;
    suite.upstream.answer(() => undefined);
    const body = chatBody(30_000);
    const first = await start(caller, body.length);
    const again = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nContent-Length: ${body.length}\r\n\r\n`;
    first.send(`${body}${again}${body}${again}${body}`);
    await until(() => suite.upstream.seen.length === before + 3);
    first.socket.destroy();
    await until(() => suite.upstream.seen.slice(before).every(({ aborted }) => aborted), {
      what: 'all three to be cut',
    });
    await nothingHeld();
    await suite.edge.settled();
  });
});
