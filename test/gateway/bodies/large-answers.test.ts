import { connect, type Socket } from 'node:net';
import { createTestKey, postChat, type TestKey, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { chat } from '../../support/scripted-upstream.js';
import { until } from '../../support/until.js';
import { bodyBytesOf, chatBody } from '../../support/upload.js';

const MIB = 2 ** 20;
/** Far more than what the system buffers on the way. */
const ANSWER_BYTES = 24 * MIB;
const BODY = '{"model":"gateway/fast","messages":[]}';
const answerOf = (bytes: number) =>
  chat({ choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(bytes) } }] });

/** Makes a call whose answer isn't read before the test says so. */
function unread(url: string, key: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: edge\r\nauthorization: Bearer ${key}\r\n` +
      `content-length: ${BODY.length}\r\n\r\n${BODY}`,
  );
  return socket;
}

describe('the memory for large answers', () => {
  const suite = useEdge({ bounds: { answerBytes: 96 * MIB, largeBodyBytes: 2 * MIB } });
  const sockets: Socket[] = [];
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
  });

  const hold = async ({ key }: TestKey): Promise<void> => {
    const before = await bodyBytesOf(suite.edge);
    sockets.push(unread(suite.edge.url, key));
    await until(async () => (await bodyBytesOf(suite.edge)) >= before + ANSWER_BYTES);
  };
  const letGo = async (): Promise<void> => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await until(async () => (await bodyBytesOf(suite.edge)) === 0);
  };
  const call = async ({ key }: TestKey, body = BODY): Promise<number> => {
    const response = await postChat(suite.edge.url, key, body);
    await response.arrayBuffer();
    return response.status;
  };

  test('is no account’s alone: an account holds no more than it leaves to others', async () => {
    const [one, two, newcomer] = await Promise.all([1, 2, 3].map(() => createTestKey(suite.db)));
    suite.upstream.answer(answerOf(ANSWER_BYTES));
    await hold(one!);
    await hold(two!);
    suite.upstream.answer(answerOf(20 * MIB));
    expect(await call(one!)).toBe(503);
    expect(await call(newcomer!)).toBe(200);
    // Uploads have memory of their own.
    suite.upstream.answer(chat());
    expect(await call(one!, chatBody(200_000))).toBe(200);
    expect(await call(newcomer!, chatBody(200_000))).toBe(200);
    await suite.edge.settled();
    expect(
      (await usageOf(suite.db, one!.accountId)).map(({ status, cost }) => [status, Number(cost) > 0]),
    ).toEqual([
      ['success', true],
      ['error', false],
      ['success', true],
    ]);
    await letGo();
    suite.upstream.answer(answerOf(20 * MIB));
    expect(await call(one!)).toBe(200);
  });

  test('has room for a newcomer, however many accounts don’t read their answers', async () => {
    const [newcomer, ...others] = await Promise.all([1, 2, 3, 4, 5].map(() => createTestKey(suite.db)));
    suite.upstream.answer(answerOf(20 * MIB));
    for (const { key, accountId } of others) {
      sockets.push(unread(suite.edge.url, key));
      await until(async () => (await usageOf(suite.db, accountId)).length === 1);
    }
    expect(await bodyBytesOf(suite.edge)).toBeGreaterThan(40 * MIB);
    suite.upstream.answer(answerOf(17 * MIB));
    expect(await call(newcomer!)).toBe(200);
    await letGo();
  });

  test('holds at most half of it for one account', async () => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(answerOf(50 * MIB));
    expect((await postChat(suite.edge.url, key, BODY)).status).toBe(503);
  });
});

/** Reads so many bytes every 50 ms, until the connection is closed or `done`. */
async function readSlowly(socket: Socket, bytes: number, done: () => boolean = () => false): Promise<void> {
  let read = 0;
  socket.on('data', ({ length }: Buffer) => {
    read += length;
    if (read >= bytes) socket.pause();
  });
  await until(
    () => {
      read = 0;
      socket.resume();
      return socket.destroyed || done();
    },
    { intervalMs: 50 },
  );
}

describe('a reader of a large answer', () => {
  describe('below the least rate', () => {
    const suite = useEdge({
      bounds: { stalledReaderMs: 2_000, readBytesPerSecond: 64 * MIB, checkIntervalMs: 50 },
    });

    test('is cut though it goes on, and has paid', async () => {
      const { key, accountId } = await createTestKey(suite.db);
      suite.upstream.answer(answerOf(ANSWER_BYTES));
      const socket = unread(suite.edge.url, key);
      await readSlowly(socket, 128 * 1024);
      expect(socket.bytesRead).toBeGreaterThan(128 * 1024);
      expect(socket.bytesRead).toBeLessThan(ANSWER_BYTES);
      expect(await bodyBytesOf(suite.edge)).toBe(0);
      await suite.edge.settled();
      expect(await usageOf(suite.db, accountId)).toEqual([
        expect.objectContaining({ status: 'success', output_tokens: 34 }),
      ]);
    });
  });

  describe('above the least rate, while more than two thirds of the memory are in use', () => {
    const suite = useEdge({
      bounds: {
        ...{ stalledReaderMs: 3_000, readBytesPerSecond: 64 * 1024, checkIntervalMs: 50 },
        answerBytes: 65 * MIB,
      },
    });

    test('is cut unless it takes all of it in time', async () => {
      const start = async (bytes: number): Promise<Socket> => {
        const { key } = await createTestKey(suite.db);
        const before = await bodyBytesOf(suite.edge);
        suite.upstream.answer(answerOf(bytes));
        const socket = unread(suite.edge.url, key);
        await until(async () => (await bodyBytesOf(suite.edge)) >= before + bytes);
        return socket;
      };
      const slow = await start(ANSWER_BYTES);
      const quicker = await start(20 * MIB);
      // Not fast enough itself, but longer there.
      const reading = readSlowly(quicker, 128 * 1024, () => slow.destroyed);
      await readSlowly(slow, 48 * 1024, () => slow.bytesRead > ANSWER_BYTES);
      await reading;
      expect(slow.bytesRead).toBeLessThan(ANSWER_BYTES);
      quicker.destroy();
    });
  });

  describe('above the least rate', () => {
    const suite = useEdge({
      bounds: { stalledReaderMs: 3_000, readBytesPerSecond: 64 * 1024, checkIntervalMs: 50 },
    });

    test('gets all of it, however long it takes', async () => {
      const { key } = await createTestKey(suite.db);
      suite.upstream.answer(answerOf(ANSWER_BYTES));
      const socket = unread(suite.edge.url, key);
      const began = performance.now();
      await readSlowly(socket, 256 * 1024, () => socket.bytesRead > ANSWER_BYTES);
      expect(performance.now() - began).toBeGreaterThan(3_000);
      expect(socket.bytesRead).toBeGreaterThan(ANSWER_BYTES);
      socket.destroy();
    });
  });
});
