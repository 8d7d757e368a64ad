import { type Holding, MemoryPool } from '../../../src/lib/fair/memory-pool.js';

const BYTES = 1_000;

/** Takes byte by byte until there is no more room. */
function fill(holding: Holding): number {
  while (holding.take(1));
  return holding.bytes;
}

describe('memory that owners share', () => {
  test.each([1, 3, 4])(
    'has room for a new owner, however many owners take all they can (part %i)',
    (part) => {
      const pool = new MemoryPool(BYTES, part);
      const alone = fill(pool.holding('first'));
      expect(alone).toBe(BYTES / (part + 1));
      // Several holdings of one owner count together.
      expect(pool.holding('first').take(1)).toBe(false);
      for (let owner = 0; owner < 5; owner++)
        expect(fill(pool.holding(`greedy ${owner}`))).toBeGreaterThan(0);
      expect(pool.holding('newcomer').take(1)).toBe(true);
      expect(pool.used).toBeLessThan(BYTES);
    },
  );

  test('is given back only once, and is free for others then', () => {
    const pool = new MemoryPool(BYTES, 1);
    const [one, other] = [pool.holding('a'), pool.holding('a')];
    expect([one.take(300), other.take(200), other.take(1)]).toEqual([true, true, false]);
    one.release();
    one.release();
    expect([pool.used, other.take(300)]).toEqual([200, true]);
    other.give(100);
    expect(other.bytes).toBe(400);
    other.give(1_000);
    expect([other.bytes, pool.used]).toEqual([0, 0]);
  });

  test('counts bytes that are in memory already without a check, and has no room then', () => {
    const pool = new MemoryPool(BYTES, 1);
    const holding = pool.holding('a');
    holding.add(600);
    expect([pool.used, holding.hasRoom(), pool.holding('b').hasRoom(200)]).toEqual([600, false, true]);
    holding.release();
    expect(holding.hasRoom(500)).toBe(true);
  });
});
