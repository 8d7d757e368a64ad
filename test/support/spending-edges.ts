import { newId } from '../../src/lib/ids.js';
import { DOLLAR, type Money } from '../../src/lib/money.js';
import { Ledger, type LimitsEdge, limitsEdge, UNIT } from './limits.js';
import { type OwnTime, ownTime } from './own-time.js';
import { until } from './until.js';

const FLOOR = DOLLAR / 1000n;
/** As in the product, with more heartbeats: the edges agree sooner. */
const PATIENCE = { redisMs: 50, queueMs: 250, beatMs: 100 };
const WORKERS = 20;
/** Holds of which an edge that is alone may have many open, and that spend the balance in some hundred calls. */
const UNITS = 100;
const COST = UNIT * BigInt(UNITS);

/** What an edge tells of its Redis. */
const SHARED = 'limits are shared through Redis';
const LOST = 'Redis is unavailable; this edge enforces its share of each limit until it responds';
const BACK = 'Redis is back; limits are shared again';

/** What two edges did that spent one balance together while something happened to their Redis. */
export interface Spent {
  /** Of the balance, below the floor, and of what one call may cost. */
  overspent: Money;
  mostOfOneCall: Money;
  /** The longest that a call took to be decided, in milliseconds of this process's own time. */
  slowestMs: number;
  /** What each edge told of its Redis. */
  logs: string[][];
  /** Whether each edge ended with nothing open. */
  settled: boolean;
}

/** Whether an edge says that it shares its limits. */
export const isShared = (edge: LimitsEdge): boolean => /limits are shared/.test(edge.log.at(-1)!);

/**
 * Has two edges take calls of one account from many workers while `happens` runs, which resolves once both share their limits
 * again, and then spend what is left of the balance.
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
    // A busy machine may have kept Redis before: then an edge has a loss to end, and not one to begin.
    await until(() => edges.every(isShared), { what: 'both edges to share' });
    await happens(edges);
    // Now it costs as much as it may: the balance runs out.
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
    // A busy machine may have kept Redis just now: that loss has an end, too.
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

/** Calls without end: each holds the same and costs what `cost` says; gives the longest that one took to be decided. */
async function work(
  edge: LimitsEdge,
  time: OwnTime,
  cost: () => bigint,
  over: () => boolean,
): Promise<number> {
  let slowest = 0;
  while (!over()) {
    // Decided locally a call takes no turn of the event loop: others would never get theirs.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const since = time.now();
    const admission = await edge.admit(UNITS).catch(() => undefined);
    slowest = Math.max(slowest, time.now() - since);
    if (admission) edge.settle(admission, cost());
    if (edge.pending.length > 20) edge.flush();
  }
  return slowest;
}

/** Runs a fault, and resolves when each edge has told of a loss and of its end. */
export const lossOf =
  (fault: () => Promise<void>) =>
  async (edges: readonly LimitsEdge[]): Promise<void> => {
    const before = edges.map(({ log }) => log.length);
    await fault();
    await until(() => edges.every((edge, i) => edge.log.length >= before[i]! + 2 && isShared(edge)), {
      what: 'both edges to share again',
    });
  };

/** What a loss of Redis, or several, may come to. A call takes less than `mostMs`. */
export function expectOneCallTooMuchAtMost(
  { overspent, mostOfOneCall, slowestMs, logs, settled }: Spent,
  mostMs = 600,
): void {
  // However often a busy machine kept Redis once more.
  expect(overspent).toBeLessThanOrEqual(mostOfOneCall);
  // A wait of a quarter of a second for room, and 50 ms for Redis, in a busy process.
  expect(slowestMs).toBeLessThan(mostMs);
  for (const log of logs) expectLossesToEnd(log);
  expect(settled).toBe(true);
}

/** A busy machine may keep Redis for longer than 50 ms once more, even at the start: each loss is told, and each end of one. */
function expectLossesToEnd(log: readonly string[]): void {
  const first = log.indexOf(SHARED);
  const [before, losses] = [log.slice(0, first), log.slice(first + 1)];
  expect(log).toContain(SHARED);
  // Until the limits are shared for the first time, a loss has no other end than that.
  expect(before).toEqual(Array(Math.min(before.length, 1)).fill(LOST));
  expect(losses).toEqual(losses.map((_line, i) => (i % 2 === 0 ? LOST : BACK)));
  expect(losses.length % 2).toBe(0);
}
