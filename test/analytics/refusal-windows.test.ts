import { newId } from '../../src/lib/ids.js';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

const NOW = Date.UTC(2030, 5, 20, 6, 20);

describe('windows of refused calls', () => {
  const suite = usePlatform({ own: true /* a clock of its own */, clock: { now: () => NOW } });

  test('that are compared end at the same time of day, as far as hours tell', async () => {
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
});
