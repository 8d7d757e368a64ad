import { formatMoney, type Money, parseMoney } from '../../../src/lib/money.js';
import type { TestKey } from '../../support/edge.js';
import { compareBooks } from '../rig/books.js';
import { outcome } from '../rig/client.js';
import type { Rig } from '../rig/rig.js';
import { allShare, faultsOf, faultsText, type Result, scaled, withRig } from './goal.js';

const PARALLEL = [2, 50, 500, 2_000];
const ROUNDS = 5;
const FLOOR = parseMoney('0.001');
const BALANCE = '0.04';
const CAP = '0.04';
/** The most expensive tokens of an answer, so that a call costs its whole hold, except for some input. */
const DEAR = { words: 10_000, ttftMs: 500, model: 'gateway/deepseek-code' };
const DEAR_COST = parseMoney('0.018006');

/** G4: a crowd of parallel calls against one balance, and against one daily cap; over one edge and over two. */
export async function overspend(scale: number): Promise<Result[]> {
  return [await overEdges(1, scale), await overEdges(2, scale)];
}

function overEdges(edges: number, scale: number): Promise<Result> {
  const rounds = scaled(ROUNDS, scale, 1);
  return withRig(`G4 over ${edges}`, { edges }, async (rig) => {
    if (edges > 1) await allShare(rig);
    let lowest: Money = parseMoney(BALANCE);
    let mostSpent: Money = 0n;
    let served = 0;
    const odd = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      for (const calls of PARALLEL) {
        const [poor] = (await rig.customers(1, { balance: BALANCE })) as [TestKey];
        const [capped] = (await rig.customers(1, { dailyLimit: CAP })) as [TestKey];
        for (const { key } of [poor, capped]) {
          const entries = await Promise.all(
            Array.from({ length: calls }, () => rig.journal.call(rig.url, key, DEAR, { limitMs: 60_000 })),
          );
          served += entries.filter((entry) => entry.complete).length;
          for (const entry of entries) if (!EXPECTED.includes(outcome(entry))) odd.add(outcome(entry));
        }
        await compareBooks(rig);
        const [balance, spent] = await moneyOf(rig, poor, capped);
        if (balance < lowest) lowest = balance;
        if (spent > mostSpent) mostSpent = spent;
      }
    }
    const late = await rig.redisFailures();
    const { books } = await compareBooks(rig);
    const [floor, ceiling] = [FLOOR - DEAR_COST, parseMoney(CAP) + DEAR_COST];
    return {
      goal: `G4 overspend over ${edges === 1 ? 'one edge' : 'two edges with Redis'}: ${PARALLEL.join(', ')} parallel calls, ${rounds} times`,
      figure: `balance ≥ 0.001 − one call (here ≥ ${formatMoney(floor)}); the same for daily caps (here < ${formatMoney(ceiling)})`,
      reached: `lowest balance ${formatMoney(lowest)}, most spent under a cap of ${CAP}: ${formatMoney(mostSpent)}; ${served} calls served, unexpected answers: ${odd.size === 0 ? 'none' : [...odd].join(', ')}; Redis late ${late} times; books: ${faultsText(books)}`,
      ok: lowest >= floor && mostSpent < ceiling && odd.size === 0 && faultsOf(books) === 0,
    };
  });
}

const EXPECTED = ['200', '402 insufficient_credits', '402 daily_cap_exceeded'];

/** Balance of the one, spend of the other. */
async function moneyOf(rig: Rig, poor: TestKey, capped: TestKey): Promise<[Money, Money]> {
  const { rows } = await rig.postgres.pool.query<{ balance: string; spent: string }>(
    `select (select balance::text from accounts where id = $1) as balance,
       (select coalesce(sum(cost), 0)::text from usage_events where key_id = $2) as spent`,
    [poor.accountId, capped.keyId],
  );
  return [parseMoney(rows[0]!.balance), parseMoney(rows[0]!.spent)];
}
