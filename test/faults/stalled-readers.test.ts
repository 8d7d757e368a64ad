import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { noteEnds, serverEnds } from '../support/own-sockets.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import { outcome } from './rig/client.js';
import { type Rig, startRig } from './rig/rig.js';
import { type Order, type RigUpstream, startRigUpstream } from './rig/upstream.js';

/** Callers that don't read their answers: requirement F23. */
const STALLED_MS = 400;
const READERS = sized(50, 100);
/** Memory per reader in edge, upstream and client together, all in this process. About 580 KiB are measured. */
const HELD_KIB_EACH = 768;
/**
 * Memory per reader in the edge alone, in a separate process: F23's figure. About 30 KiB are measured, counted
 * after a collection, because resident memory varies by more than all readers need.
 */
const HELD_BY_EDGE_KIB_EACH = 256;
/** Chunks of 10 kB each: 40 MB, far more than the system buffers on the way. */
const WORDS = 20_000;

/** Sends a call and never reads a byte of the answer. */
/** Referenced memory of this process. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function stalledReader(url: string, key: string, order: Order, stream: boolean): Socket {
  const body = JSON.stringify({
    model: 'gateway/fast',
    stream,
    messages: [{ role: 'user', content: JSON.stringify(order) }],
  });
  const { hostname, port } = new URL(url);
  const socket = noteEnds(connect(Number(port), hostname));
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: edge\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return socket;
}

describe('a reader that reads nothing', () => {
  let db: TestDatabase;
  let upstream: RigUpstream;
  let edge: TestEdge;
  let customer: TestKey;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startRigUpstream();
    edge = await startTestEdge(db, { upstreamUrl: upstream.url, bounds: { stalledReaderMs: STALLED_MS } });
    customer = await createTestKey(db, { balance: '100' });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await edge.close();
    await upstream.close();
    await db.close();
  });

  /** Waits until the edge disconnects, then reads. Returns the bytes that were sent until then. */
  async function readLate(socket: Socket): Promise<number> {
    await until(() => serverEnds([socket]) === 0, { what: 'the edge to disconnect' });
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    return socket.bytesRead;
  }

  test('is disconnected in the middle of a stream and pays for the generated tokens', async () => {
    // Far more than all buffers on the way take.
    const socket = stalledReader(edge.url, customer.key, { n: 1, words: 2_000, wordBytes: 10_000 }, true);
    sockets.push(socket);
    await until(() => upstream.forwarded.size === 1 && upstream.open() === 0, {
      what: 'the upstream to be cut',
    });
    await edge.settled();
    const [row] = await usageOf(db, customer.accountId);
    expect(row).toMatchObject({ status: 'success', client_aborted: true, estimated: true });
    expect(row!.output_tokens).toBeGreaterThan(0);
    // Four bytes each: a word is 2,500 tokens.
    expect(row!.output_tokens).toBeLessThan(2_000 * 2_500);
  });

  test('is disconnected from a whole answer, which was charged when it was sent', async () => {
    const socket = stalledReader(edge.url, customer.key, { n: 2, words: 2_000, wordBytes: 10_000 }, false);
    sockets.push(socket);
    await until(() => upstream.forwarded.size === 2 && upstream.open() === 0);
    expect(await readLate(socket)).toBeLessThan(20_000_000);
    await edge.settled();
    expect((await usageOf(db, customer.accountId)).at(-1)).toMatchObject({
      status: 'success',
      output_tokens: 2_000,
    });
  });
});

describe('readers that read nothing of 200 MB each', () => {
  const suite = useEdge();
  let upstream: RigUpstream;
  let edge: TestEdge;
  beforeAll(async () => {
    upstream = await startRigUpstream();
    edge = await startTestEdge(suite.db, { upstreamUrl: upstream.url });
  });
  afterAll(async () => {
    await edge.close();
    await upstream.close();
  });

  test('pause the upstream, with less than a MiB buffered for each on the whole way', async () => {
    const { key } = await createTestKey(suite.db, { balance: '1000000' });
    const sent = () => [...upstream.forwarded.values()].reduce((sum, { sent: deltas }) => sum + deltas, 0);
    const before = heldBytes();
    const sockets = Array.from({ length: 40 }, (_, i) =>
      stalledReader(edge.url, key, { n: i, words: WORDS, wordBytes: 10_000 }, true),
    );
    try {
      for (let last = -1; last !== sent() || last === 0; ) {
        last = sent();
        await pause(300);
      }
      expect((heldBytes() - before) / sockets.length / 1024).toBeLessThan(HELD_KIB_EACH);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await until(() => upstream.open() === 0);
  }, 30_000);
});

describe('many readers that read nothing of 200 MB each', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig('stalled-readers', { direct: true });
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  test("don't exhaust the edge's memory, and others are served", async () => {
    const [customer] = (await rig.customers(1)) as [TestKey];
    const call = () => rig.journal.call(rig.url, customer.key, { words: 50 }, { stream: true });
    for (let i = 0; i < 50; i++) expect(outcome(await call())).toBe('200');
    const sockets: Socket[] = [];
    const stalled = () => [...rig.upstream.forwarded.values()].filter(({ order }) => order.n >= 1_000_000);
    const sent = () => stalled().reduce((sum, { sent: deltas }) => sum + deltas, 0);
    /** Adds readers. Returns the edge's memory once nothing moves any more because the way to the upstream is full. */
    const heldWith = async (count: number): Promise<number> => {
      while (sockets.length < count)
        sockets.push(
          stalledReader(
            rig.url,
            customer.key,
            { n: 1_000_000 + sockets.length, words: WORDS, wordBytes: 10_000 },
            true,
          ),
        );
      await until(() => stalled().length === count, { timeoutMs: 30_000 });
      for (let last = -1; last !== sent(); ) {
        last = sent();
        await pause(300);
      }
      return rig.edge.held();
    };
    try {
      // The first readers also cause memory that the process needs for any reader.
      const before = await heldWith(READERS / 2);
      const after = await heldWith(READERS);
      // Each got some bytes and gets no more: all are stalled.
      expect(stalled().every(({ sent: deltas }) => deltas > 0 && deltas < WORDS)).toBe(true);
      expect(outcome(await call())).toBe('200');
      expect((after - before) / (READERS / 2) / 1024).toBeLessThan(HELD_BY_EDGE_KIB_EACH);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await until(() => rig.upstream.open() === 0);
  }, 60_000);
});
