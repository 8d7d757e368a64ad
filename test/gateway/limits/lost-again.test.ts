import type { Admission } from '../../../src/inference/limits/limits.js';
import { DOLLAR, type Money } from '../../../src/lib/money.js';
import { testClock } from '../../support/clock.js';
import { Ledger, type LimitsEdgeOptions, UNIT } from '../../support/limits.js';
import { type LossyEdge, lossyEdges } from '../../support/lossy-edges.js';
import { createTestRedis, describeWithRedis, type TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

const FLOOR = DOLLAR / 1000n;
const CALL = 2_000;
const COST = UNIT * BigInt(CALL);
const OUTAGES = 6;

/** Requirement G4 over F11: edges lose Redis again and again while the account has calls and charges under way. */
describeWithRedis('edges that lose Redis again and again', () => {
  let redis: TestRedis;
  let edges: LossyEdge[] = [];
  beforeAll(async () => {
    redis = await createTestRedis();
  });
  afterEach(async () => {
    for (const edge of edges.splice(0)) await edge.close();
    await redis.client.flushall();
  });
  afterAll(() => redis.close());

  async function two(ledger: Ledger, options: LimitsEdgeOptions = {}): Promise<[LossyEdge, LossyEdge]> {
    edges = await lossyEdges(2, redis, ledger, options);
    return edges as [LossyEdge, LossyEdge];
  }

  /** Sends calls to the edge until one is refused. Returns the admitted ones. */
  async function drain(edge: LossyEdge): Promise<Admission[]> {
    const admitted: Admission[] = [];
    for (;;) {
      const admission = await edge.admit(CALL).catch((error: { code: string }) => error.code);
      if (typeof admission === 'string') {
        expect(['insufficient_credits', 'daily_cap_exceeded']).toContain(admission);
        return admitted;
      }
      admitted.push(admission);
    }
  }

  /** Every call costs what it holds. */
  function settle(edge: LossyEdge, admissions: Admission[]): void {
    for (const admission of admissions) edge.settle(admission, COST);
  }

  /** The account's balance once all holds and pending charges are committed. */
  const leftOf = (ledger: Ledger): Money =>
    edges.reduce(
      (left, { pending, entry }) => left - entry.account.holds - pending.reduce((a, b) => a + b, 0n),
      ledger.balance,
    );
  const withinOneCall = (ledger: Ledger) => expect(leftOf(ledger)).toBeGreaterThanOrEqual(FLOOR - COST);

  test('a hold that was settled while Redis was away is reported, however long that was', async () => {
    const clock = testClock(Date.now());
    const [loser, other] = await two(new Ledger(FLOOR + COST * 100n), { clock });
    const held = await loser.admit(CALL);
    await loser.lose();
    loser.settle(held, 0n);
    clock.advance(70_000);
    const beat = async () => Number(await redis.client.zscore('gw:edges', other.identity.id));
    const since = await beat();
    // Twelve heartbeats: an edge repeats its reports every five.
    await until(async () => (await beat()) > since + 240);
    expect(Object.values(await redis.open())).toEqual([String(COST)]);
    await loser.regain();
    expect(await redis.open()).toEqual({});
  });

  test("an edge gives out no share of what another edge's calls hold", async () => {
    const ledger = new Ledger(FLOOR + COST * 100n);
    const [holder, loser] = await two(ledger);
    const held = await drain(holder);
    expect(held.length).toBeGreaterThan(70);
    for (let i = 0; i < OUTAGES; i++) {
      await loser.lose();
      // Some are open, some are charged and not yet committed.
      settle(loser, (await drain(loser)).slice(i % 2));
      await loser.regain();
      withinOneCall(ledger);
    }
  });

  test('all edges together overspend by one call at most, whatever they commit in between', async () => {
    const ledger = new Ledger(FLOOR + COST * 100n);
    const pair = await two(ledger);
    for (let i = 0; i < OUTAGES; i++) {
      for (const edge of pair) await edge.lose();
      for (const edge of pair) settle(edge, (await drain(edge)).slice(2));
      if (i % 2 === 0) pair[i % 4 ? 1 : 0].flush();
      await Promise.all(pair.map((edge) => edge.regain()));
      withinOneCall(ledger);
      settle(pair[0], (await drain(pair[0])).slice(1));
      withinOneCall(ledger);
    }
    for (const edge of pair) edge.flush();
    withinOneCall(ledger);
    expect(leftOf(ledger)).toBeLessThan(FLOOR + COST * 20n);
  });

  test('an edge that is alone keeps its share while the others spend the rest', async () => {
    const ledger = new Ledger(FLOOR + COST * 100n);
    const [sharer, loser] = await two(ledger);
    for (let i = 0; i < OUTAGES; i++) {
      await loser.lose();
      const alone = await loser.admit(CALL).catch(() => undefined);
      for (let before = -1n; before !== ledger.balance; ) {
        before = ledger.balance;
        settle(sharer, await drain(sharer));
        sharer.flush();
      }
      const more = await drain(loser);
      withinOneCall(ledger);
      settle(loser, alone ? [alone, ...more] : more);
      loser.flush();
      await loser.regain();
    }
    withinOneCall(ledger);
  });

  test('all edges together exceed a daily cap by one call at most', async () => {
    const ledger = new Ledger(DOLLAR * 100n);
    const dailyLimit = COST * 100n;
    const pair = await two(ledger, { dailyLimit });
    for (let i = 0; i < OUTAGES; i++) {
      for (const edge of pair) await edge.lose();
      for (const edge of pair) settle(edge, await drain(edge));
      if (i % 2 === 0) pair[0].flush();
      await Promise.all(pair.map((edge) => edge.regain()));
      settle(pair[1], await drain(pair[1]));
    }
    for (const edge of pair) edge.flush();
    expect(ledger.spend).toBeLessThanOrEqual(dailyLimit + COST);
    expect(ledger.spend).toBeGreaterThan(dailyLimit / 2n);
  });

  test('an account with a high balance gets a new share with each outage, and no refusal', async () => {
    const ledger = new Ledger(DOLLAR * 5n);
    const pair = await two(ledger);
    for (let i = 0; i < OUTAGES; i++) {
      for (const edge of pair) await edge.lose();
      for (const edge of pair)
        for (let call = 0; call < 10; call++) edge.settle(await edge.admit(CALL), COST);
      for (const edge of pair) edge.flush();
      await Promise.all(pair.map((edge) => edge.regain()));
      for (const edge of pair) edge.settle(await edge.admit(CALL), COST);
    }
  });

  test('a top-up that an edge reads during an outage raises its share, once', async () => {
    const ledger = new Ledger(FLOOR);
    const pair = await two(ledger);
    for (const edge of pair) await edge.lose();
    expect(await drain(pair[0])).toEqual([]);
    ledger.balance += DOLLAR;
    ledger.seq++;
    await pair[0].readAgain();
    const admitted = await drain(pair[0]);
    // An eighth of what lies above the last five cents.
    expect(admitted).toHaveLength(5);
    expect(await drain(pair[0])).toEqual([]);
    // The same top-up, read a second time.
    await pair[0].readAgain();
    expect(await drain(pair[0])).toEqual([]);
    settle(pair[0], admitted);
  });

  test('edges wait for one that Redis has forgotten until it has reported its open amounts', async () => {
    const ledger = new Ledger(FLOOR + COST * 100n);
    const [holder, other] = await two(ledger);
    await drain(holder);
    await holder.lose();
    await redis.kill();
    await redis.start();
    // Longer than for one that Redis remembers.
    const back = performance.now() + 3_500;
    await until(
      async () => {
        await drain(other);
        return performance.now() > back;
      },
      { intervalMs: 100 },
    );
    withinOneCall(ledger);
    // Its first look at Redis is long over when its holds arrive.
    let over = false;
    const meanwhile = (async () => {
      while (!over) {
        await drain(other);
        // Refused at once, it would leave the others no turn.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    await Promise.all([holder.regain(50), other.regain()]);
    over = true;
    await meanwhile;
    withinOneCall(ledger);
  });

  test('the reserve is released once all edges share again', async () => {
    const ledger = new Ledger(FLOOR + COST * 10n);
    const [edge] = await two(ledger);
    await until(async () => {
      settle(edge, await drain(edge));
      edge.flush();
      return ledger.balance < FLOOR;
    });
    withinOneCall(ledger);
  });
});
