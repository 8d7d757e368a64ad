import { utcDay } from '../../../src/lib/clock.js';
import { createTestKey, errorOf, postChat } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

const DAY_MS = 86_400_000;

describe('402 daily_cap_exceeded', () => {
  let now = Date.UTC(2026, 10, 21, 23, 59, 0);
  const suite = useEdge({ clock: { now: () => now } });

  test("answers once today's spend reaches the cap, tells SDKs not to retry, and ends at 00:00 UTC", async () => {
    const { key } = await createTestKey(suite.db, { dailyLimit: '0.0000114' });
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
    const refused = await postChat(suite.edge.url, key);
    expect(refused.status).toBe(402);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(refused)).toEqual({
      message: expect.stringContaining('00:00 UTC'),
      type: 'insufficient_quota',
      param: null,
      code: 'daily_cap_exceeded',
    });
    await suite.edge.settled();
    now += 61_000;
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
    expect((await postChat(suite.edge.url, key)).status).toBe(402);
  });

  test('answers every call of a key whose cap is 0', async () => {
    const { key } = await createTestKey(suite.db, { dailyLimit: '0' });
    expect((await postChat(suite.edge.url, key)).status).toBe(402);
  });

  test('counts what the database knows of the day, and nothing of another day', async () => {
    const { key, keyId } = await createTestKey(suite.db, { dailyLimit: '0.5' });
    const spend = (day: string) =>
      suite.db.pool.query('insert into key_spend_days (key_id, day, spend) values ($1, $2, 0.5)', [
        keyId,
        day,
      ]);
    await spend(utcDay(now - DAY_MS));
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
    const other = await createTestKey(suite.db, { dailyLimit: '0.5' });
    await suite.db.pool.query('insert into key_spend_days (key_id, day, spend) values ($1, $2, 0.5)', [
      other.keyId,
      utcDay(now),
    ]);
    expect((await postChat(suite.edge.url, other.key)).status).toBe(402);
  });
});
