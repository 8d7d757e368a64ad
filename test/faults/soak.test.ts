import { Agent } from 'node:http';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { testClock } from '../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey } from '../support/edge.js';
import { until } from '../support/until.js';
import { type CallOptions, Journal } from './rig/client.js';
import { type Order, type RigUpstream, startRigUpstream } from './rig/upstream.js';

/** What a few thousand calls leave behind: goal G14, whose long form runs for hours. */
const WARM_UP = 1_000;
const CALLS = 1_000;
/**
 * Calls per round. Connections that are still closing change the memory by some 160 kB either way, which
 * three rounds spread over their calls. What a process learns once is spread over more.
 */
const [LEAST, MOST] = [3, 8];
const PARALLEL = 16;
/** A leaked entry of a Map with an id takes more. */
const LEFT_BYTES_EACH = 64;

/** V8's spaces for compiled code, which grow as long as it optimizes, without a leak. */
const COMPILED = ['code_space', 'code_large_object_space', 'trusted_space', 'trusted_large_object_space'];

/** Bytes of objects and buffers that something in this process still refers to. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !COMPILED.includes(space_name));
  return spaces.reduce((sum, space) => sum + space.space_used_size, process.memoryUsage().arrayBuffers);
}

function mixed(i: number): [Omit<Order, 'n'>, CallOptions] {
  const stream = i % 2 === 0;
  if (i % 10 === 3)
    return [
      { words: 50, chunkMs: 1 },
      { stream: true, leaveAfter: 2 },
    ];
  if (i % 10 === 7) return [{ ttftMs: 20 }, { stream, leaveAfterMs: 5 }];
  if (i % 20 === 11) return [{ words: 10, after: 3, fault: 'reset' }, { stream: true }];
  return [{ words: 3 }, { stream }];
}

describe('an edge after thousands of calls, a fifth of them left by their callers', () => {
  let db: TestDatabase;
  let upstream: RigUpstream;
  let edge: TestEdge;
  let customers: TestKey[];
  const clock = testClock();
  beforeAll(async () => {
    db = await createTestDatabase();
    await db.pool.query('update plans set requests_per_minute = 60000');
    upstream = await startRigUpstream();
    edge = await startTestEdge(db, { upstreamUrl: upstream.url, clock });
    customers = await Promise.all(Array.from({ length: 10 }, () => createTestKey(db, { balance: '1000' })));
  });
  afterAll(async () => {
    await edge.close();
    await upstream.close();
    await db.close();
  });

  async function load(calls: number): Promise<void> {
    const journal = new Journal();
    const agent = new Agent({ keepAlive: true });
    let made = 0;
    const caller = async (): Promise<void> => {
      for (let i = made++; i < calls; i = made++) {
        const [order, options] = mixed(i);
        await journal.call(edge.url, customers[i % 10]!.key, order, { ...options, agent });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, caller));
    agent.destroy();
    upstream.forwarded.clear();
  }

  /** What keeps the process alive, by kind. */
  function resources(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }

  /** Bytes in use while idle. */
  async function rest(): Promise<number> {
    // Limits remember the calls of the last minute; the next call after that makes them forget.
    clock.advance(61_000);
    await load(customers.length);
    await edge.settled();
    await until(() => upstream.open() === 0);
    return heldBytes();
  }

  test('has no more memory, connections and timers than before', async () => {
    // Before the first call: later, idle connections of the warm-up would hide leaked ones.
    const before = resources();
    await load(WARM_UP);
    const held = await rest();
    let growth = Number.POSITIVE_INFINITY;
    for (
      let calls = CALLS;
      calls <= MOST * CALLS && (calls <= LEAST * CALLS || growth >= LEFT_BYTES_EACH);
      calls += CALLS
    ) {
      await load(CALLS);
      growth = ((await rest()) - held) / calls;
    }
    expect(growth).toBeLessThan(LEFT_BYTES_EACH);
    // Connections to the upstream are closed after 4 s without use, those to the database after 10.
    await until(
      () => {
        const now = resources();
        return ['TCPSocketWrap', 'Timeout'].every((kind) => (now[kind] ?? 0) <= (before[kind] ?? 0));
      },
      { timeoutMs: 15_000, what: 'sockets and timers to be as few as before' },
    );
  }, 60_000);
});
