import { setTimeout as pause } from 'node:timers/promises';
import type { TestKey } from '../support/edge.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import { CLEAN, compareBooks } from './rig/books.js';
import { type Entry, steadyLoad } from './rig/client.js';
import { type Rig, startRig } from './rig/rig.js';

/** Without Redis one edge admits, and a second one waits: docs/decisions/0040-the-lock-of-the-one-edge.md. */
const RESTARTS = sized(2, 5);
/** A call every 100 ms at each edge is enough to measure seconds. */
const PER_SECOND = 20;
/** Both reach the database. */
const BOUND_MS = 5_000;

describe('two edges without Redis', () => {
  let rig: Rig;
  let customers: TestKey[];
  let waiting: Promise<number>;
  beforeAll(async () => {
    rig = await startRig('one-edge', { edges: 2, redis: false });
    customers = await rig.customers(4);
    waiting = rig.edges[1]!.start();
    waiting.catch(() => undefined);
    // A second edge that doesn't know the first yet may take the lock of a server that has just restarted.
    await until(() => rig.edges[1]!.output().includes('waiting for it to stop'), { timeoutMs: 30_000 });
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  /** Makes calls at each edge at an even pace. Returns when each was served. */
  async function under(happens: () => Promise<void>): Promise<Entry[][]> {
    let over = false;
    const seen: Entry[][] = [[], []];
    const load = steadyLoad(
      PER_SECOND,
      () => over,
      async (i) => {
        const entry = await rig.journal.call(rig.edges[i % 2]!.url, customers[i % 4]!.key);
        seen[i % 2]!.push(entry);
      },
    );
    try {
      await until(() => seen[0]!.length > 20);
      await happens();
    } finally {
      over = true;
      await load;
    }
    return seen;
  }

  /** Milliseconds from the first to the last call that it served. */
  function served(entries: Entry[]): { first: number; last: number } {
    const times = entries.filter(({ complete }) => complete).map(({ startedAt }) => startedAt);
    return { first: Math.min(...times), last: Math.max(...times) };
  }

  test('the first one continues when PostgreSQL is restarted, and the second one stays out', async () => {
    const [first, second] = await under(async () => {
      for (let i = 0; i < RESTARTS; i++) {
        await rig.postgres.stop();
        await pause(rig.random.between(0, 300));
        await rig.postgres.start();
        await pause(rig.random.between(500, 1_000));
      }
      // As long as the second leaves the lock to the first, and then some.
      await pause(4_000);
    });
    expect(rig.journal.tally(first)).toEqual({ '200': first!.length });
    expect(rig.journal.tally(second)).toEqual({ ECONNREFUSED: second!.length });
    expect(rig.edges[1]!.running()).toBe(true);
  }, 60_000);

  test('edges that lose the lock to each other both admit calls only for less than the bound', async () => {
    const seen = await under(async () => {
      rig.edges[0]!.freeze();
      await rig.postgres.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gateway-edge-lock'`,
      );
      await waiting;
      rig.edges[0]!.resume();
      await until(async () => (await fetch(`${rig.edges[0]!.url}/health/ready`)).status === 503);
    });
    const [first, second] = seen.map(served) as [ReturnType<typeof served>, ReturnType<typeof served>];
    expect(second.first).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(first.last - second.first).toBeLessThan(BOUND_MS);
    const refused = await rig.journal.call(rig.edges[0]!.url, customers[0]!.key);
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable', retryAfter: '1' });
    await rig.edges[1]!.end('SIGTERM');
    await until(async () => (await fetch(`${rig.edges[0]!.url}/health/ready`)).ok);
    expect((await rig.journal.call(rig.edges[0]!.url, customers[0]!.key)).status).toBe(200);
    expect((await compareBooks(rig, { crashes: true })).books).toEqual(CLEAN);
  }, 60_000);
});
