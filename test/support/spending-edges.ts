import { newId } from '../../src/lib/ids.js';
import { DOLLAR, type Money } from '../../src/lib/money.js';
import { Ledger, type LimitsEdge, limitsEdge, UNIT } from './limits.js';
import { type OwnTime, ownTime } from './own-time.js';
import { until } from './until.js';

const FLOOR = DOLLAR / 1000n;
/** As in the product, but with more heartbeats, so that the edges agree sooner. */
const PATIENCE = { redisMs: 50, queueMs: 250, beatMs: 100 };
const WORKERS = 20;
/** Small enough that a lone edge may have many open holds; some hundred calls spend the balance. */
const UNITS = 100;
const COST = UNIT * BigInt(UNITS);

/** An edge's reports about Redis. */
const SHARED = 'limits are shared through Redis';
const LOST = 'Redis is unavailable; this edge enforces its share of each limit until it responds';
const BACK = 'Redis is back; limits are shared again';

/** Results of two edges that spent one balance together during a fault of Redis. */
export interface Spent {
  /** Spend of the balance, amount below the floor, and maximum cost of a call. */
  overspent: Money;
  mostOfOneCall: Money;
  /** The longest decision of a call, in milliseconds of this process's own time. */
  slowestMs: number;
  /** Each edge's reports about Redis. */
  logs: string[][];
  /** Whether each edge ended without open holds. */
  settled: boolean;
}

/** Whether an edge reports that it shares its limits. */
export const isShared = (edge: LimitsEdge): boolean => /limits are shared/.test(edge.log.at(-1)!);

/**
 * Lets two edges take calls of one account from many workers while `happens` runs, which resolves once both share their limits
 * again, and then spend the rest of the balance.
 */
export async function spendTogether(
  redis: { url: string; open(): Promise<Record<string, string>> },
  happens: (edges: readonly LimitsEdge[]) => Promise<void>,
  accountId = newId(),
): Promise<Spent> {
  const time = ownTime();
  const ledger = new Ledger(FLOOR + UNIT * 30_000n);
  const same = { redisUrl: redis.url, accountId, keyId: newId(), patience: PATIENCE };
  const edges = [await limitsEdge(ledger, same), await limitsEdge(ledger, same)];
  let cost = 1n;
  let over = false;
  const workers = edges.flatMap((edge) =>
    Array.from({ length: WORKERS }, () =>
      work(
        edge,
        time,
        () => cost,
        () => over,
      ),
    ),
  );
  try {
    await until(() => ledger.seq > 500n, { what: 'load' });
    // A busy machine may have delayed Redis before: then an edge's next report is the end of a loss, not its begin.
    await until(() => edges.every(isShared), { what: 'both edges to share' });
    await happens(edges);
    // Now calls cost as much as they may, until the balance runs out.
    cost = COST;
    await until(() => {
      for (const edge of edges) edge.flush();
      return ledger.balance < FLOOR;
    });
    over = true;
    const slowestMs = Math.max(...(await Promise.all(workers)));
    for (const edge of edges) edge.flush();
    await until(async () => Object.keys(await redis.open()).length === 0, { what: 'nothing to be open' });
    const settled = edges.every(({ entry: { account } }) => account.idle);
    // A busy machine may have delayed Redis just now: that loss has an end, too.
    await until(() => edges.every(isShared), { what: 'both edges to share at the end' });
    const logs = edges.map(({ log }) => log);
    return { overspent: FLOOR - ledger.balance, mostOfOneCall: COST, slowestMs, logs, settled };
  } finally {
    over = true;
    await Promise.all(workers);
    for (const edge of edges) await edge.limits.stop();
    time.stop();
  }
}

/** Makes calls until stopped, each with the same hold and a cost of `cost`. Returns the longest decision. */
async function work(
  edge: LimitsEdge,
  time: OwnTime,
  cost: () => bigint,
  over: () => boolean,
): Promise<number> {
  let slowest = 0;
  while (!over()) {
    // Local decisions take no turn of the event loop, so other workers would starve.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const since = time.now();
    const admission = await edge.admit(UNITS).catch(() => undefined);
    slowest = Math.max(slowest, time.now() - since);
    if (admission) edge.settle(admission, cost());
    if (edge.pending.length > 20) edge.flush();
  }
  return slowest;
}

/** Runs a fault, and resolves when each edge has reported a loss and its end. */
export const lossOf =
  (fault: () => Promise<void>) =>
  async (edges: readonly LimitsEdge[]): Promise<void> => {
    const before = edges.map(({ log }) => log.length);
    await fault();
    await until(() => edges.every((edge, i) => edge.log.length >= before[i]! + 2 && isShared(edge)), {
      what: 'both edges to share again',
    });
  };

/** Checks the effects of one or more losses of Redis. Each call takes less than `mostMs`. */
export function expectOneCallTooMuchAtMost(
  { overspent, mostOfOneCall, slowestMs, logs, settled }: Spent,
  mostMs = 600,
): void {
  // However often a busy machine delayed Redis again.
  expect(overspent).toBeLessThanOrEqual(mostOfOneCall);
  // A wait of a quarter of a second for room, and 50 ms for Redis, in a busy process.
  expect(slowestMs).toBeLessThan(mostMs);
  for (const log of logs) expectLossesToEnd(log);
  expect(settled).toBe(true);
}

/** A busy machine may delay Redis for more than 50 ms again, even at the start. Each loss and each end is reported. */
function expectLossesToEnd(log: readonly string[]): void {
  const first = log.indexOf(SHARED);
  const [before, losses] = [log.slice(0, first), log.slice(first + 1)];
  expect(log).toContain(SHARED);
  // Before limits are shared for the first time, only that ends a loss.
  expect(before).toEqual(Array(Math.min(before.length, 1)).fill(LOST));
  expect(losses).toEqual(losses.map((_line, i) => (i % 2 === 0 ? LOST : BACK)));
  expect(losses.length % 2).toBe(0);
}
