import { AccountState } from '../../../src/inference/limits/account-state.js';
import type { Admission } from '../../../src/inference/limits/limits.js';
import { PeriodSpend } from '../../../src/inference/limits/period-spend.js';
import type { Payer } from '../../../src/inference/payer.js';
import { newId } from '../../../src/lib/ids.js';
import { DOLLAR, type Money } from '../../../src/lib/money.js';
import fc from '../../support/fast-check.js';
import { bodyOf, Ledger, type LimitsEdge, limitsEdge, TestCaller, UNIT } from '../../support/limits.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { sized } from '../../support/size.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
const ACCOUNTS = 3;
/** Whoever would wait for room is refused at once: waiting is another test's matter. */
const PATIENCE = { redisMs: 5_000, queueMs: 1 };

interface Customer {
  accountId: string;
  keyId: string;
  balance: Money;
  cap: Money | null;
}

/** What the edge knows of a customer. */
function payerOf(edge: LimitsEdge, { accountId, keyId, balance, cap }: Customer): Payer {
  return {
    ...edge.entry,
    credential: { kind: 'api_key', id: keyId },
    account: new AccountState(accountId, balance, 1n, 1_000_000),
    day: new PeriodSpend(),
    dailyLimit: cap,
  };
}

type Act =
  | { kind: 'admit'; customer: number; units: number }
  | { kind: 'settle'; which: number; part: number };
interface Turn {
  edge: number;
  acts: Act[];
}

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constant('admit' as const),
    customer: fc.nat(ACCOUNTS - 1),
    units: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({ kind: fc.constant('settle' as const), which: fc.nat(20), part: fc.nat(4) }),
);
const turn: fc.Arbitrary<Turn> = fc.record({
  edge: fc.nat(1),
  acts: fc.array(act, { minLength: 1, maxLength: 12 }),
});
const scenario = fc.record({
  customers: fc.array(fc.record({ units: fc.nat(100), cap: fc.option(fc.integer({ min: 1, max: 100 })) }), {
    minLength: ACCOUNTS,
    maxLength: ACCOUNTS,
  }),
  turns: fc.array(turn, { minLength: 3, maxLength: 15 }),
});

/** A customer and what it has open, over both edges. */
interface Books extends Customer {
  held: Money;
  charged: Money;
  payers: Payer[];
}

interface Open {
  edge: LimitsEdge;
  books: Books;
  admission: Admission;
}

const fits = ({ balance, cap, held, charged }: Books): boolean =>
  balance - charged - held >= FLOOR && (cap === null || charged + held < cap);

/** Runs a turn on one edge: what it settles counts before what it requests. */
async function carryOut(
  edge: LimitsEdge,
  nth: number,
  acts: Act[],
  all: Books[],
  open: Open[],
): Promise<void> {
  const asked: { books: Books; expected: boolean; answer: Promise<Admission | undefined> }[] = [];
  const mine = open.filter((one) => one.edge === edge);
  for (const one of acts) {
    if (one.kind === 'admit') continue;
    const [ended] = mine.splice(one.which % Math.max(1, mine.length), 1);
    if (!ended) continue;
    open.splice(open.indexOf(ended), 1);
    const { books, admission } = ended;
    const cost = (admission.hold * BigInt(one.part)) / 4n;
    books.held -= admission.hold;
    books.charged += cost;
    // Half of them in the middle of the turn, after the requests.
    const settle = () => edge.limits.settle(admission, cost, Date.now());
    if (one.part % 2) settle();
    else queueMicrotask(settle);
  }
  for (const one of acts) {
    if (one.kind === 'settle') continue;
    const books = all[one.customer]!;
    const expected = fits(books);
    if (expected) books.held += UNIT * BigInt(one.units);
    const ask = async () =>
      edge.limits.admit(books.payers[nth]!, bodyOf(one.units), new TestCaller(), 'chat');
    asked.push({ books, expected, answer: ask().catch(() => undefined) });
  }
  for (const { books, expected, answer } of asked) {
    const admission = await answer;
    expect(admission !== undefined).toBe(expected);
    if (admission) open.push({ edge, books, admission });
  }
}

describeWithRedis('turns of the event loop on two edges', () => {
  let redis: TestRedis;
  let edges: LimitsEdge[] = [];
  beforeAll(async () => {
    redis = await createTestRedis();
    const options = { redisUrl: redis.url, patience: PATIENCE };
    edges = [await limitsEdge(new Ledger(0n), options), await limitsEdge(new Ledger(0n), options)];
    for (const { log } of edges) expect(log.at(-1)).toBe('limits are shared through Redis');
  });
  afterAll(async () => {
    for (const edge of edges) await edge.limits.stop();
    await redis.close();
  });

  const openOf = async (all: Books[]): Promise<Money[]> => {
    const amounts = Object.entries(await redis.open());
    return all.map(({ accountId }) =>
      amounts
        .filter(([name]) => name.startsWith(`gw:{${accountId}}:balance `))
        .reduce((sum, [, amount]) => sum + BigInt(amount), 0n),
    );
  };
  const arrived = (all: Books[]): Promise<unknown> => {
    const expected = String(all.map(({ held, charged }) => held + charged));
    return until(async () => String(await openOf(all)) === expected, {
      ...{ what: 'Redis to know it', intervalMs: 1, timeoutMs: 2_000 },
    });
  };
  /** The sums in the state of an account or a cap, and the sums of its edges' parts. */
  async function sumsOf(key: string): Promise<{ sums: string[]; parts: string[] }> {
    const [head, ...parts] = (await redis.client.get(key))!.split(';').map((part) => part.split(' '));
    const sum = (at: number) => String(parts.reduce((total, part) => total + BigInt(part[at]!), 0n));
    return { sums: head!.slice(2, 4), parts: [sum(2), sum(3)] };
  }
  const scripts = async (): Promise<number> =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0);

  test('every turn is decided as the ledger of each account demands, and the sums in Redis add up', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ customers, turns }) => {
        const all = customers.map(({ units, cap }): Books => {
          const customer: Customer = {
            ...{ accountId: newId(), keyId: newId(), balance: FLOOR + UNIT * BigInt(units) },
            cap: cap === null ? null : UNIT * BigInt(cap),
          };
          const payers = edges.map((edge) => payerOf(edge, customer));
          return { ...customer, held: 0n, charged: 0n, payers };
        });
        const open: Open[] = [];
        for (const { edge, acts } of turns) {
          await carryOut(edges[edge]!, edge, acts, all, open);
          await arrived(all);
        }
        for (const { edge, books, admission } of open) {
          edge.limits.release(admission);
          books.held -= admission.hold;
        }
        await arrived(all);
        for (const key of await redis.client.keys('gw:{*')) {
          if ((await redis.client.type(key)) !== 'string') continue;
          const { sums, parts } = await sumsOf(key);
          expect(sums).toEqual(parts);
        }
        for (const { account, day } of all.flatMap(({ payers }) => payers)) {
          expect(account).toMatchObject({ holds: 0n, asking: 0 });
          expect(day).toMatchObject({ holds: 0n, asked: 0n });
        }
      }),
      { numRuns: sized(8, 100), endOnFailure: true },
    );
  }, 120_000);

  test('a turn takes one script per account, whatever it settles and requests', async () => {
    const edge = edges[0]!;
    const payers = Array.from({ length: 10 }, () =>
      payerOf(edge, { accountId: newId(), keyId: newId(), balance: DOLLAR, cap: DOLLAR }),
    );
    const ask = () =>
      Promise.all(
        payers.flatMap((payer) =>
          [1, 2].map(async (units) => edge.limits.admit(payer, bodyOf(units), new TestCaller(), 'chat')),
        ),
      );
    const before = await scripts();
    const admitted = await ask();
    for (const admission of admitted) edge.limits.settle(admission, 1n, Date.now());
    await ask();
    const taken = (await scripts()) - before;
    // Heartbeats of both edges come in between, on a busy machine several. A script for each call would be 40, and more to settle.
    expect([taken >= 20, taken <= 32]).toEqual([true, true]);
  });

  test('a settled hold is reported even if no call follows', async () => {
    const edge = edges[0]!;
    const customer = { accountId: newId(), keyId: newId(), balance: FLOOR, cap: null };
    const [here, there] = edges.map((each) => payerOf(each, customer)) as [Payer, Payer];
    const admission = await edge.limits.admit(here, bodyOf(10), new TestCaller(), 'chat');
    const refused = async () => edges[1]!.limits.admit(there, bodyOf(1), new TestCaller(), 'chat');
    await expect(refused()).rejects.toMatchObject({ code: 'insufficient_credits' });
    edge.limits.release(admission);
    await until(
      async () =>
        (await redis.open())[`gw:{${customer.accountId}}:balance h:${edge.identity.id}`] === undefined,
      {
        ...{ what: 'the hold to be gone', intervalMs: 1, timeoutMs: 1_000 },
      },
    );
    await expect(refused()).resolves.toMatchObject({ held: true });
  });
});
