import { parseMoney } from '../../src/lib/money.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { balanceOf, createTestKey, startTestEdge, type TestEdge } from '../support/edge.js';
import { until } from '../support/until.js';
import { type CallOptions, Journal, outcome, steadyLoad } from './rig/client.js';
import type { Order } from './rig/upstream.js';
import { type RigUpstream, startRigUpstream } from './rig/upstream.js';

/** Calls that end in every wrong way: requirements F1 to F5 against R1; goal G5. */
const CALLS = 240;
const FLOOR = parseMoney('0.001');
const WRONG_WAYS: [Omit<Order, 'n'>, CallOptions][] = [
  [
    { words: 500, chunkMs: 2 },
    { stream: true, leaveAfter: 3 },
  ],
  [{ ttftMs: 100 }, { leaveAfterMs: 10 }],
  [{ ttftMs: 100 }, { stream: true, leaveAfterMs: 0 }],
  [{ fault: 'reset', words: 10, after: 2 }, { stream: true }],
  [{ fault: 'truncate' }, {}],
  [{ fault: 'silent' }, { stream: true }],
  [{ fault: 'stall', words: 10, after: 2 }, { stream: true }],
  [{ fault: 'garbage' }, {}],
  [{ fault: 'refuse' }, {}],
];

describe('calls that are aborted, reset and timed out', () => {
  let db: TestDatabase;
  let upstream: RigUpstream;
  let edge: TestEdge;
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startRigUpstream();
    edge = await startTestEdge(db, {
      upstreamUrl: upstream.url,
      // Edge and upstream share this process: with a limit of one second, a freeze of the process would end calls, too.
      env: { UPSTREAM_TIMEOUT_SECONDS: '3', UPSTREAM_IDLE_SECONDS: '3' },
    });
  });
  afterAll(async () => {
    await edge.close();
    await upstream.close();
    await db.close();
  });

  const metric = async (name: string): Promise<number> =>
    (await edge.registry.getSingleMetric(name)!.get()).values[0]!.value;

  test('leave no hold behind, and meanwhile cause no refusal of an account above the floor', async () => {
    const journal = new Journal();
    const crowd = await createTestKey(db, { balance: '1000' });
    const lone = await createTestKey(db, { balance: '0.004' });
    let made = 0;
    const load = steadyLoad(
      120,
      () => made >= CALLS,
      (i) => {
        made++;
        return journal.call(edge.url, crowd.key, ...WRONG_WAYS[i % WRONG_WAYS.length]!);
      },
    );
    let last = await journal.call(edge.url, lone.key, { words: 600 });
    let served = 0;
    for (; last.complete; served++) last = await journal.call(edge.url, lone.key, { words: 600 });
    expect(outcome(last)).toBe('402 insufficient_credits');
    await edge.settled();
    // $0.003 are above the floor, and each call costs $0.000181.
    expect(served).toBe(17);
    expect(parseMoney(await balanceOf(db, lone.accountId))).toBeLessThan(FLOOR);
    await load;
    await until(async () => (await metric('gateway_open_holds')) === 0);
    expect(await metric('gateway_leaked_holds_total')).toBe(0);
    await until(() => upstream.open() === 0);
    // Other calls of the crowd can use all of the money again.
    const [wrong, right] = [new Set(journal.entries.map(outcome)), await journal.call(edge.url, crowd.key)];
    expect(wrong.size).toBeGreaterThan(5);
    expect(outcome(right)).toBe('200');
  });
});
