import { newId } from '../../src/lib/ids.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

const NOW = Date.UTC(2030, 5, 20, 6, 20);

describe('windows of refused calls', () => {
  const suite = usePlatform({ own: true /* a clock of its own */, clock: { now: () => NOW } });

  test('to compare end at the same time of day, to the hour', async () => {
    const { token, user } = await signUp(suite.url);
    const keyId = newId();
    const refuse = (...at: [day: number, hour: number]) =>
      suite.db.pool.query(
        `insert into refused_call_hours values ($1, $2, $3, 'model_not_allowed', '', 1, $2)`,
        [user.id, new Date(Date.UTC(2030, 5, ...at)), keyId],
      );
    // Today from midnight to the hour that runs; yesterday all day.
    for (let hour = 0; hour <= 6; hour++) await refuse(20, hour);
    for (let hour = 0; hour < 24; hour++) await refuse(19, hour);
    const counted = async (query: string): Promise<[number, number]> => {
      const [sum, hours] = await Promise.all([
        call<{ total_calls: number }>(suite.url, 'GET', `/api/usage/refused?${query}`, { token }),
        call<unknown[]>(suite.url, 'GET', `/api/refusals?${query}`, { token }),
      ]);
      return [sum.body.total_calls, hours.body.length];
    };
    expect(await counted('window_days=1')).toEqual([7, 7]);
    expect(await counted('window_days=1&ends_days_ago=1')).toEqual([6, 6]);
    expect(await counted('window_days=2')).toEqual([31, 31]);
    expect(await counted('window_days=2&ends_days_ago=1')).toEqual([6, 6]);
  });

  test('come in pages of 50 hours over REST, newest first', async () => {
    const { token, user } = await signUp(suite.url);
    const hoursAgo = (hours: number) => new Date(Date.UTC(2030, 5, 20, 6 - hours));
    await suite.db.pool.query(
      `insert into refused_call_hours
       select $1, hour, $2, 'model_not_allowed', '', 1, hour from generate_series($3::timestamptz, $4, '1 hour') hour`,
      [user.id, newId(), hoursAgo(59), hoursAgo(0)],
    );
    const list = async (page: string) => {
      const path = `/api/refusals?window_days=30${page}`;
      const { body } = await call<{ hour: string }[]>(suite.url, 'GET', path, { token });
      return body.map(({ hour }) => hour);
    };
    const all = await list('&limit=500');
    expect([all.length, all[0]]).toEqual([60, '2030-06-20T06:00:00.000000Z']);
    expect(all).toEqual(all.toSorted().reverse());
    expect(await list('')).toEqual(all.slice(0, 50));
    expect(await list('&limit=5&offset=57')).toEqual(all.slice(57));
    expect(await list(`&offset=${Number.MAX_SAFE_INTEGER}`)).toEqual([]);
  });
});
