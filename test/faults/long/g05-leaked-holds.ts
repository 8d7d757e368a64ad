import { parseMoney } from '../../../src/lib/money.js';
import type { TestKey } from '../../support/edge.js';
import { until } from '../../support/until.js';
import { compareBooks } from '../rig/books.js';
import { type CallOptions, outcome, steadyLoad } from '../rig/client.js';
import type { Random } from '../rig/random.js';
import type { Rig } from '../rig/rig.js';
import type { Order } from '../rig/upstream.js';
import { allShare, faultsOf, faultsText, type Result, scaled, withRig } from './goal.js';

const CALLS = 10_000;
const PER_SECOND = 150;
const RELEASED_MS = 60_000;
const FLOOR = parseMoney('0.001');
/** Balance of a lone caller: some dozen calls of up to $0.0003. */
const LONE_BALANCE = '0.005';

/** G5: calls that fail in any way leave no hold behind, and a lone caller is never refused above the floor. */
export function leakedHolds(scale: number): Promise<Result> {
  const calls = scaled(CALLS, scale, 300);
  const edgeEnv = { UPSTREAM_TIMEOUT_SECONDS: '1', UPSTREAM_IDLE_SECONDS: '1' };
  return withRig('G5', { edges: 2, edgeEnv }, async (rig, customers) => {
    await allShare(rig);
    let over = false;
    const alone = loneCallers(rig, () => over);
    let made = 0;
    await steadyLoad(
      PER_SECOND,
      () => made >= calls,
      (i) => {
        made++;
        const [order, options] = wrongWay(i, rig.random);
        return rig.journal.call(rig.url, customers[i % customers.length]!.key, order, options);
      },
    );
    const began = performance.now();
    const open = async () =>
      (await Promise.all(rig.edges.map((edge) => edge.metric('gateway_open_holds')))).reduce(
        (sum, count) => sum + count,
        0,
      );
    over = true;
    const lone = await alone;
    await until(async () => (await open()) === 0, { timeoutMs: RELEASED_MS }).catch(() => undefined);
    await until(async () => Object.keys(await rig.redis!.open()).length === 0, {
      timeoutMs: RELEASED_MS,
    }).catch(() => undefined);
    const releasedMs = performance.now() - began;
    const left = [await open(), Object.keys(await rig.redis!.open()).length];
    const leaked = await Promise.all(rig.edges.map((edge) => edge.metric('gateway_leaked_holds_total')));
    const late = await rig.redisFailures();
    const { books, counts } = await compareBooks(rig);
    return {
      goal: `G5 leaked holds and false refusals after ${made} aborted, reset and timed-out calls`,
      figure: 'R = 0 within 60 s; 0 × 402 for a sequential caller with at least $0.001',
      reached: `open holds ${left[0]} in the edges and ${left[1]} in Redis after ${(releasedMs / 1_000).toFixed(1)} s (voided by deadline: ${leaked.join(' and ')}); ${lone.served} calls of lone callers, refused above the floor: ${lone.wrong}, ended otherwise: ${lone.other}; ${counts.rows} events, Redis late ${late} times, books: ${faultsText(books)}`,
      ok:
        left.every((count) => count === 0) &&
        leaked.every((count) => count === 0) &&
        lone.served > 0 &&
        lone.wrong === 0 &&
        faultsOf(books) === 0,
    };
  });
}

/** What goes wrong with the i-th call. */
function wrongWay(i: number, random: Random): [Omit<Order, 'n'>, CallOptions] {
  const stream = i % 2 === 0;
  const after = random.between(0, 8);
  switch (i % 8) {
    case 0:
      return [
        { words: 500, chunkMs: 2 },
        { stream, leaveAfter: random.between(1, 20) },
      ];
    case 1:
      return [{ ttftMs: 200 }, { stream, leaveAfterMs: random.between(0, 150) }];
    case 2:
      return [{ fault: 'reset', words: 10, after }, { stream }];
    case 3:
      return [{ fault: 'truncate', words: 10, after }, { stream }];
    case 4:
      return [{ fault: 'silent' }, { stream }];
    case 5:
      return [{ fault: 'garbage' }, { stream }];
    case 6:
      return [{ fault: 'stall', words: 10, after }, { stream }];
    default:
      return [{ fault: 'refuse' }, { stream }];
  }
}

interface Lone {
  served: number;
  /** Refused although nothing else was in flight and the balance was there. */
  wrong: number;
  /** Ended otherwise: the upstream's limit of a second is short on a busy machine. */
  other: number;
}

/** Callers one after the other, each alone with an account, which call until the money is gone. */
async function loneCallers(rig: Rig, over: () => boolean): Promise<Lone> {
  const lone: Lone = { served: 0, wrong: 0, other: 0 };
  while (!over()) {
    const [{ key, accountId }] = (await rig.customers(1, { balance: LONE_BALANCE })) as [TestKey];
    for (;;) {
      const entry = await rig.journal.call(rig.url, key, { words: rig.random.between(1, 1_000) });
      if (outcome(entry) === '402 insufficient_credits') break;
      if (entry.complete) lone.served++;
      else lone.other++;
    }
    if ((await settledBalance(rig, accountId)) >= FLOOR) lone.wrong++;
  }
  return lone;
}

/** The balance once every forwarded call of the account has its row. */
async function settledBalance(rig: Rig, accountId: string): Promise<bigint> {
  let last = '';
  for (;;) {
    const { rows } = await rig.postgres.pool.query<{ balance: string }>(
      'select balance::text from accounts where id = $1',
      [accountId],
    );
    const { balance } = rows[0]!;
    if (parseMoney(balance) < FLOOR || balance === last) return parseMoney(balance);
    last = balance;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
