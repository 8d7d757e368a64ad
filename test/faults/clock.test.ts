import { testClock } from '../support/clock.js';
import { createTestKey, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { checkInvariants } from '../support/invariants.js';

/** Calls around the ends of days, months and years: requirement F16, goal G27. Each costs $0.0000114. */
const EDGES = [
  ['a day', Date.UTC(2026, 10, 22), '2026-11-21', '2026-11-22'],
  ['a month', Date.UTC(2026, 11, 1), '2026-11-30', '2026-12-01'],
  ['a year', Date.UTC(2027, 0, 1), '2026-12-31', '2027-01-01'],
  ['28 February of a leap year', Date.UTC(2028, 1, 29), '2028-02-28', '2028-02-29'],
  ['29 February', Date.UTC(2028, 2, 1), '2028-02-29', '2028-03-01'],
] as const;
const COST = '0.000011400000';

describe('calls around the end of', () => {
  const clock = testClock(EDGES[0][1] - 60_000);
  const suite = useEdge({ clock });
  const moveTo = (time: number) => clock.advance(time - clock.now());

  test.each(EDGES)('%s count for the day of their own time', async (_name, midnight, before, after) => {
    moveTo(midnight - 30_000);
    const { key, keyId } = await createTestKey(suite.db, { dailyLimit: '1' });
    for (const time of [-1_000, -2, -1, 0, 1, 1_000, 2_000]) {
      moveTo(midnight + time);
      expect((await postChat(suite.edge.url, key, { max_tokens: 40 })).status).toBe(200);
    }
    await suite.edge.settled();
    const { rows } = await suite.db.pool.query<{ day: string; calls: string }>(
      'select day::text, (spend / $2)::integer as calls from key_spend_days where key_id = $1 order by day',
      [keyId, COST],
    );
    expect(rows).toEqual([
      { day: before, calls: 3 },
      { day: after, calls: 4 },
    ]);
    expect(await checkInvariants(suite.db.pool)).toEqual([]);
  });

  test('a day with a spent cap are admitted again, and a step back of the clock neither ends nor reopens a day', async () => {
    const midnight = Date.UTC(2028, 5, 2);
    moveTo(midnight - 10_000);
    const { key } = await createTestKey(suite.db, { dailyLimit: COST });
    const call = async (): Promise<number> => {
      const { status } = await postChat(suite.edge.url, key, { max_tokens: 40 });
      await suite.edge.settled();
      return status;
    };
    expect(await call()).toBe(200);
    expect(await call()).toBe(402);
    moveTo(midnight + 500);
    expect(await call()).toBe(200);
    expect(await call()).toBe(402);
    // Two seconds back, over midnight: yesterday's cap was spent and still is.
    moveTo(midnight - 1_500);
    expect(await call()).toBe(402);
    moveTo(midnight + 500);
    expect(await call()).toBe(402);
    expect(await checkInvariants(suite.db.pool)).toEqual([]);
  });
});
