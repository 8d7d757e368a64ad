import { RateBudget } from '../../../src/lib/fair/rate-budget.js';

const PER_MINUTE = 60;
const START = Date.UTC(2026, 10, 28);

describe('a budget per minute', () => {
  let now = START;
  let budget: RateBudget;
  beforeEach(() => {
    now = START;
    budget = new RateBudget(PER_MINUTE, 2);
  });
  const take = (owner: string, units?: number): number => budget.take(owner, now, units);

  test('can be spent at once, and returns evenly', () => {
    for (let i = 0; i < PER_MINUTE; i++) expect(take('a')).toBe(0);
    expect([take('a'), take('a', 3), take('b')]).toEqual([1_000, 3_000, 0]);
    now += 999;
    expect(take('a')).toBe(1);
    now += 1;
    expect([take('a'), take('a')]).toEqual([0, 1_000]);
    now += 60_000;
    expect([take('a', PER_MINUTE), take('a')]).toEqual([0, 1_000]);
  });

  test('delays an owner who overdrew it by a minute at most', () => {
    budget.spend('a', now, 1_000_000);
    expect(take('a')).toBe(60_000);
    now += 60_000;
    expect(take('a')).toBe(0);
  });

  test('returns nothing when the clock steps back', () => {
    budget.spend('a', now, PER_MINUTE);
    now -= 3_600_000;
    expect(take('a')).toBe(1_000);
    now += 1_000;
    expect([take('a'), take('a')]).toEqual([0, 1_000]);
  });

  test("is remembered for the owners that spent most recently; checks don't count", () => {
    for (const owner of ['a', 'b']) budget.spend(owner, now, PER_MINUTE);
    for (const owner of ['a', 'made up 1', 'made up 2']) budget.waitMs(owner, now);
    expect([budget.waitMs('a', now), budget.waitMs('b', now)]).toEqual([1_000, 1_000]);
    budget.spend('c', now);
    expect([budget.waitMs('a', now), budget.waitMs('b', now)]).toEqual([0, 1_000]);
  });
});
