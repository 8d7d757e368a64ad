import type { Admission } from '../../../src/inference/limits/limits.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { testClock } from '../../support/clock.js';
import {
  bodyOf,
  Ledger,
  type LimitsEdge,
  type LimitsEdgeOptions,
  limitsEdge,
  TestCaller,
  UNIT,
} from '../../support/limits.js';
import { ownTime } from '../../support/own-time.js';

const FLOOR = DOLLAR / 1000n;

describe('limits of the only edge', () => {
  let edge: LimitsEdge;
  afterEach(() => edge.limits.stop());

  async function start(units: bigint, options: LimitsEdgeOptions = {}): Promise<Ledger> {
    const ledger = new Ledger(FLOOR + UNIT * units);
    edge = await limitsEdge(ledger, options);
    return ledger;
  }

  const metric = async (name: string) => (await edge.registry.getSingleMetric(name)!.get()).values[0]?.value;

  test("a call that needn't wait is admitted synchronously", async () => {
    await start(10n);
    const admission = edge.limits.admit(edge.entry, bodyOf(3), new TestCaller(), 'chat');
    expect(admission).toMatchObject({ held: true, hold: UNIT * 3n });
    edge.settle(admission as Admission, 0n);
  });

  test.each([2, 50, 500, 2_000])(
    '%i parallel calls near the floor hold at most one call more than the balance',
    async (calls) => {
      const ledger = await start(25n);
      const results = await Promise.all(
        Array.from({ length: calls }, () => edge.admit(10).catch((error: { code: string }) => error.code)),
      );
      const admitted = results.filter((result) => typeof result !== 'string');
      expect(admitted).toHaveLength(Math.min(calls, 3));
      for (const admission of admitted) edge.settle(admission, UNIT * 10n);
      edge.flush();
      expect(ledger.balance).toBeGreaterThanOrEqual(FLOOR - UNIT * 10n);
      expect(await metric('gateway_open_holds')).toBe(0);
    },
  );

  test('waiting calls are admitted first come, first served, as holds settle', async () => {
    await start(0n);
    const first = await edge.admit(10);
    const order: number[] = [];
    const waiting = [1, 2, 3].map((n) =>
      edge.admit(10).then((admission) => {
        order.push(n);
        edge.settle(admission, 0n);
      }),
    );
    edge.settle(first, 0n);
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  test('a call that waits in vain is refused after a quarter of a second, with Retry-After', async () => {
    await start(0n);
    const held = await edge.admit(10);
    const time = ownTime();
    const began = time.now();
    const since = performance.now();
    await expect(edge.admit(10)).rejects.toMatchObject({
      code: 'insufficient_credits',
      options: { retryAfterSeconds: 1 },
    });
    const waited = performance.now() - since;
    expect(waited).toBeGreaterThan(240);
    expect(time.now() - began).toBeLessThan(1_000);
    time.stop();
    edge.settle(held, 0n);
  });

  test('a waiting call is refused at once when a charge takes the balance below the floor', async () => {
    await start(0n);
    const held = await edge.admit(10);
    const time = ownTime();
    const since = time.now();
    const waiting = edge.admit(10);
    edge.settle(held, 1n);
    await expect(waiting).rejects.toMatchObject({ code: 'insufficient_credits', options: {} });
    expect(time.now() - since).toBeLessThan(200);
    time.stop();
  });

  test('a waiting caller that leaves makes room for the next', async () => {
    await start(0n);
    const held = await edge.admit(10);
    const leaver = new TestCaller();
    const left = edge.admit(10, leaver);
    const next = edge.admit(10);
    leaver.leave();
    await expect(left).rejects.toThrow();
    edge.settle(held, 0n);
    edge.settle(await next, 0n);
    expect(edge.entry.account.holds).toBe(0n);
  });

  test('a daily cap that is held is refused with Retry-After, and one that is spent without', async () => {
    await start(1_000n, { dailyLimit: UNIT * 10n });
    const held = await edge.admit(10);
    const waiting = edge.admit(10);
    edge.settle(held, UNIT * 9n);
    const second = await waiting;
    const whileHeld = await edge.admit(10).catch((error: unknown) => error);
    expect(whileHeld).toMatchObject({ code: 'daily_cap_exceeded', noRetry: true });
    expect(whileHeld).toMatchObject({ options: { retryAfterSeconds: 1 } });
    edge.settle(second, UNIT);
    const spent = await edge.admit(10).catch((error: unknown) => error);
    expect(spent).toMatchObject({ code: 'daily_cap_exceeded', noRetry: true });
    expect(spent).not.toHaveProperty('options.retryAfterSeconds');
  });

  test('a lone caller spends its balance down to the floor without a refusal', async () => {
    const ledger = await start(500n);
    let calls = 0;
    while (ledger.balance - edge.entry.account.pending >= FLOOR) {
      edge.settle(await edge.admit(1_000), UNIT);
      if (++calls % 10 === 0) edge.flush();
    }
    expect(calls).toBe(501);
    await expect(edge.admit(1)).rejects.toMatchObject({ code: 'insufficient_credits' });
  });

  test('a hold that is never settled is voided once after its deadline, and a late charge still counts', async () => {
    jest.useFakeTimers();
    try {
      const clock = testClock();
      await start(0n, { clock, upstreamTimeoutMs: 1_000 });
      const leaked = await edge.admit(10);
      clock.advance(61_001);
      jest.advanceTimersByTime(5_000);
      expect(edge.log).toEqual(['voided a hold that was never settled']);
      expect(await metric('gateway_leaked_holds_total')).toBe(1);
      // There is room again. The hold of a stream that is being answered isn't voided.
      const live = await edge.admit(10);
      live.isAnswering = true;
      clock.advance(3_600_000);
      jest.advanceTimersByTime(5_000);
      expect(edge.log).toHaveLength(1);
      edge.settle(leaked, 5n);
      expect(edge.entry.account).toMatchObject({ holds: UNIT * 10n, pending: 5n });
      edge.settle(live, 0n);
    } finally {
      jest.useRealTimers();
    }
  });
});
