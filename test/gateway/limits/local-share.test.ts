import { AccountState, KeyDayState } from '../../../src/gateway/account-state.js';
import type { CatalogModel } from '../../../src/gateway/catalog.js';
import type { KeyEntry } from '../../../src/gateway/key-states.js';
import { Admission } from '../../../src/gateway/limits/limits.js';
import { LocalShare } from '../../../src/gateway/limits/local-share.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { testClock } from '../../support/clock.js';
import { TestCaller, UNIT } from '../../support/limits.js';

const FLOOR = DOLLAR / 1000n;

/** RELIABILITY.md F11, G4: what two edges that can't compare give out together. */
describe("an edge's share", () => {
  const clock = testClock();
  let share: LocalShare;
  let account: AccountState;
  beforeEach(() => {
    share = new LocalShare(clock);
    share.edges = 2;
    account = new AccountState('a', FLOOR + UNIT * 100n, 1n, 1_000);
  });
  const admission = (hold: bigint): Admission => {
    const entry = { account, day: new KeyDayState(), dailyLimit: null, readAt: clock.now() } as KeyEntry;
    return new Admission(entry, new TestCaller(), {} as CatalogModel, '', hold);
  };
  const take = (careful = false): string => {
    const taken = share.take(admission(UNIT), careful);
    if (typeof taken === 'string') return taken;
    account.holds -= UNIT;
    account.charge(UNIT);
    return 'admitted';
  };
  const refused = (careful = false): unknown => {
    try {
      return take(careful);
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test('is of what the database knew once the outage had begun, not of what was known before', () => {
    const before = admission(UNIT);
    clock.advance(1_000);
    share.begin();
    // A call that had been under way: it only has the former reading.
    expect(typeof share.take(before)).toBe('object');
    account.holds -= UNIT;
    // The other edge had spent nearly all of it.
    account.observe(FLOOR + UNIT * 2n, 90n);
    expect([refused(), refused(), refused()]).toEqual(['admitted', 'admitted', 'insufficient_credits']);
  });

  test('is fixed: what is committed meanwhile makes no room for more', () => {
    share.begin();
    account.observe(FLOOR + UNIT * 4n, 2n);
    expect([refused(), refused(), refused()]).toEqual(['admitted', 'admitted', 'admitted']);
    account.pending = 0n;
    account.observe(FLOOR + UNIT, 5n);
    expect(refused()).toBe('insufficient_credits');
  });

  test('while Redis is only late is of what is left now, however long ago it was late before', () => {
    expect(take(true)).toBe('admitted');
    account.pending = 0n;
    account.observe(FLOOR + UNIT, 90n);
    expect(take(true)).toBe('account');
  });
});
