import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { RefusedCalls, type RefusedCallsOptions } from '../../src/metering/refused-calls.js';
import { addRefusedCalls, type RefusedCount } from '../../src/metering/refused-calls.store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const HOUR_MS = 3_600_000;
const AT = Date.UTC(2030, 0, 20, 12, 59, 59, 900);
const call = { accountId: newId(), keyId: newId(), code: 'model_not_allowed', model: '', at: AT };

/** A counter that writes with `write`. */
function counter(write: RefusedCallsOptions['write']) {
  const notified: string[] = [];
  let lost = 0;
  const refused = new RefusedCalls({
    write,
    onWritten: (ids) => void notified.push(...ids),
    onLost: (calls) => {
      lost += calls;
    },
    log: createLogger('test', 'silent'),
    intervalMs: 1,
  });
  return { refused, notified, lost: () => lost };
}

describe('the counts of refused calls', () => {
  test('counts are written together, by hour, and their accounts are reported once they are committed', async () => {
    const written: RefusedCount[] = [];
    const { refused, notified } = counter(async (counts) => void written.push(...counts));
    for (let n = 0; n < 1_000; n++) refused.count(call);
    refused.count({ ...call, at: AT + 200 });
    expect(notified).toEqual([]);
    await until(() => notified.length > 0);
    const hour = AT - (AT % HOUR_MS);
    expect(written.map(({ hour: h, calls, lastAt }) => ({ hour: h, calls, lastAt }))).toEqual([
      { hour, calls: 1_000, lastAt: AT },
      { hour: hour + HOUR_MS, calls: 1, lastAt: AT + 200 },
    ]);
    expect(new Set(notified)).toEqual(new Set([call.accountId]));
    await refused.stop();
  });

  test('counts wait in bounded memory while the database is unavailable, and are written at the stop', async () => {
    let away = true;
    let failures = 0;
    let written = 0;
    const { refused, notified, lost } = counter(async (counts) => {
      if (away) {
        failures++;
        throw new Error('away');
      }
      written += counts.reduce((sum, { calls }) => sum + calls, 0);
    });
    for (let n = 0; n < 12_000; n++) refused.count({ ...call, code: `code ${n}` });
    expect(lost()).toBe(2_000);
    await until(() => failures > 0);
    refused.count({ ...call, code: 'code 1' });
    expect([notified, written]).toEqual([[], 0]);
    away = false;
    await refused.stop();
    expect(written).toBe(10_001);
  });

  describe('in the database', () => {
    let db: TestDatabase;
    beforeAll(async () => {
      db = await createTestDatabase();
    });
    afterAll(() => db.close());

    test('the database keeps the ids of the latest 50 calls of a kind', async () => {
      const ids = Array.from({ length: 70 }, () => newId());
      const kind = { cost: 0n, ...call, code: 'kept', hour: AT - (AT % HOUR_MS), lastAt: AT };
      await addRefusedCalls(db.pool, [{ ...kind, calls: 30, ids: ids.slice(0, 30) }]);
      await addRefusedCalls(db.pool, [{ ...kind, calls: 40, ids: ids.slice(30) }]);
      const { rows } = await db.pool.query("select ids from refused_call_hours where code = 'kept'");
      expect(rows[0].ids).toEqual(ids.slice(20).toReversed());
    });

    test('two edges that count the same add up, also at the same moment', async () => {
      const count = (calls: number, code: string): RefusedCount => ({
        cost: 0n,
        ids: [],
        ...call,
        code,
        hour: AT - (AT % HOUR_MS),
        calls,
        lastAt: AT + calls,
      });
      const codes = Array.from({ length: 50 }, (_, n) => `code_${n}`);
      const batch = (calls: number, order: readonly string[]) =>
        addRefusedCalls(
          db.pool,
          order.map((code) => count(calls, code)),
        );
      await Promise.all([1, 2, 3, 4].map((n) => batch(n, n % 2 ? codes : codes.toReversed())));
      const { rows } = await db.pool.query<{ calls: string; last: Date }>(
        "select distinct calls::text, last_at as last from refused_call_hours where code <> 'kept'",
      );
      expect(rows).toEqual([{ calls: '10', last: new Date(AT + 4) }]);
    });
  });
});
