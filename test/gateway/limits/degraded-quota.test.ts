import type { CatalogModel } from '../../../src/inference/catalog.js';
import type { KeyEntry } from '../../../src/inference/keys/key-cache.js';
import { AccountState } from '../../../src/inference/limits/account-state.js';
import { Admission } from '../../../src/inference/limits/limits.js';
import { PeriodSpend } from '../../../src/inference/limits/period-spend.js';
import { DegradedQuota, SHARED_RESERVE } from '../../../src/inference/limits/shared/degraded-quota.js';
import { DOLLAR, type Money } from '../../../src/lib/money.js';
import { testClock } from '../../support/clock.js';
import { TestCaller, UNIT } from '../../support/limits.js';

const FLOOR = DOLLAR / 1000n;

/** Requirements F11, G4: what two edges that can't compare give out together. */
describe("an edge's share", () => {
  const clock = testClock(Date.UTC(2026, 10, 21, 23, 55));
  let share: DegradedQuota;
  let account: AccountState;
  /** A balance of which the edge's share is this many calls. */
  const forCalls = (calls: bigint): Money => FLOOR + SHARED_RESERVE + UNIT * calls * 8n;
  const holding = (calls: bigint): void => {
    account = new AccountState('a', forCalls(calls), 1n, 1_000);
  };
  beforeEach(() => {
    share = new DegradedQuota(clock);
    share.edges = 2;
  });
  const admission = (hold: bigint): Admission => {
    const entry = {
      credential: { kind: 'api_key', id: 'k' },
      account,
      day: new PeriodSpend(),
      dailyLimit: null,
    } as KeyEntry;
    return new Admission(entry, new TestCaller(), {} as CatalogModel, '', hold);
  };
  /** Admits calls, each charged at once, until one isn't admitted. Returns their number and the reason. */
  function take(careful = false): [number, string] {
    for (let admitted = 0; ; admitted++) {
      try {
        const taken = share.take(admission(UNIT), careful);
        if (typeof taken === 'string') return [admitted, taken];
      } catch (error) {
        return [admitted, (error as { code: string }).code];
      }
      account.holds -= UNIT;
      account.charge(UNIT);
    }
  }
  const read = (balance: Money, seq: bigint): void => {
    clock.advance(1_000);
    account.observe(balance, seq, clock.now());
  };

  test('a share is a quarter of what is above the last five cents, divided by the number of edges', () => {
    holding(3n);
    expect(take()).toEqual([3, 'insufficient_credits']);
    holding(0n);
    expect(take()).toEqual([0, 'insufficient_credits']);
  });

  test('the only edge may spend everything, if Redis has confirmed that it is the only one', () => {
    share.edges = 1;
    holding(0n);
    expect(take()).toEqual([0, 'insufficient_credits']);
    account = new AccountState('a', forCalls(0n), 1n, 100_000);
    share.heardAt = clock.now();
    const [admitted] = take();
    // To the floor.
    expect(BigInt(admitted)).toBe(SHARED_RESERVE / UNIT);
  });

  test("a share of a daily cap lasts into the next day, which other edges' calls in flight may use up", () => {
    holding(1_000n);
    const day = new PeriodSpend();
    const dailyLimit = SHARED_RESERVE + UNIT * 8n * 4n;
    const calls = (): number => {
      for (let admitted = 0; ; admitted++) {
        const { connection, model } = admission(UNIT);
        const entry = { credential: { kind: 'api_key', id: 'k' }, account, day, dailyLimit } as KeyEntry;
        try {
          if (typeof share.take(new Admission(entry, connection, model, '', UNIT)) === 'string')
            return admitted;
        } catch {
          return admitted;
        }
      }
    };
    expect(calls()).toBe(4);
    clock.advance(5 * 60_000);
    expect(calls()).toBe(0);
    clock.advance(10 * 60_000);
    expect(calls()).toBe(4);
  });

  test("a share shrinks by other edges' spend, even while own events are in transit", () => {
    holding(10n);
    account.charge(UNIT);
    read(forCalls(2n), 90n);
    expect(take()).toEqual([2, 'insufficient_credits']);
  });

  test('a share is not renewed when its calls are committed', () => {
    holding(3n);
    expect(take()).toEqual([3, 'insufficient_credits']);
    account.pending = 0n;
    read(forCalls(3n) - UNIT * 3n, 5n);
    expect(take()).toEqual([0, 'insufficient_credits']);
  });

  test('a share has room again when a call costs less than it held', () => {
    holding(1n);
    const taken = share.take(admission(UNIT)) as Admission;
    expect(take()).toEqual([0, 'balance_held']);
    account.holds -= taken.hold;
    expect(take()).toEqual([1, 'insufficient_credits']);
  });

  test('a call that exceeds the share waits while Redis is only late', () => {
    holding(2n);
    expect(take(true)).toEqual([2, 'balance_held']);
  });

  test('a share grows with a top-up, once', () => {
    holding(3n);
    take();
    account.pending = 0n;
    read(forCalls(3n) - UNIT * 3n, 5n);
    take();
    read(forCalls(8n) - UNIT * 3n, 6n);
    expect(take()).toEqual([5, 'insufficient_credits']);
    account.pending = 0n;
    read(forCalls(8n) - UNIT * 8n, 11n);
    expect(take()).toEqual([0, 'insufficient_credits']);
  });

  test('a share needs a reading that is as new as the last answer of Redis', () => {
    holding(1n);
    account.readAt = clock.now();
    share.heardAt = clock.now();
    expect(share.knows(admission(UNIT))).toBe(true);
    share.heardAt = clock.now() + 1;
    expect(share.knows(admission(UNIT))).toBe(false);
  });
});
