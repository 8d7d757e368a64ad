import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createPayer, type Payer } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import fc from '../support/fast-check.js';
import { checkInvariants } from '../support/invariants.js';
import { addKey, callOf, eventsOf, limitKey, subscribe } from './support.js';

const KEYS = 2;
/** On both sides of the edge of a month, and one that comes late. */
const TIMES = [
  Date.UTC(2026, 4, 31, 23, 59, 59, 999),
  Date.UTC(2026, 5, 1),
  Date.UTC(2026, 3, 30, 12),
] as const;

const key = fc.nat(KEYS - 1);
const call = fc.record({
  key,
  cents: fc.constantFrom(0, 1, 5, 20, 60),
  time: fc.nat(TIMES.length - 1),
  failed: fc.boolean(),
  widget: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
});
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ flush: fc.array(call, { minLength: 1, maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ replay: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ limit: fc.option(fc.constantFrom(0, 10, 50, 100, 333)), key }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      subscribe: fc.uniqueArray(fc.constantFrom(1, 10, 33, 50, 99, 100), { minLength: 1, maxLength: 5 }),
      active: fc.boolean(),
      key,
    }),
  },
  { weight: 1, arbitrary: fc.record({ toggle: fc.nat() }) },
);

/** What must fire, worked out from what happened and nothing else. */
class Model {
  readonly limits: (number | null)[] = Array(KEYS).fill(null);
  readonly subscriptions: { id: string; key: number; thresholds: number[]; active: boolean }[] = [];
  readonly fired = new Set<string>();
  readonly #spent = new Map<string, number>();
  readonly #fired = new Set<string>();

  /** Calls of one batch, all of which are charged before anything is measured. */
  flushed(calls: readonly { key: number; cents: number; month: string }[]): void {
    for (const { key, cents, month } of calls) {
      this.#spent.set(`${key} ${month}`, (this.#spent.get(`${key} ${month}`) ?? 0) + cents);
    }
    for (const { key, month } of calls) this.#measure(key, month);
  }

  #measure(key: number, month: string): void {
    const limit = this.limits[key]!;
    if (limit === null) return;
    const spent = this.#spent.get(`${key} ${month}`) ?? 0;
    const listening = this.subscriptions.filter((one) => one.key === key && one.active);
    const reached = new Set(
      listening.flatMap(({ thresholds }) => thresholds.filter((percent) => spent * 100 >= percent * limit)),
    );
    for (const percent of reached) {
      if (this.#fired.has(`${key} ${month} ${percent}`)) continue;
      this.#fired.add(`${key} ${month} ${percent}`);
      for (const { id, thresholds } of listening) {
        if (thresholds.includes(percent)) this.fired.add(`${id} ${month} ${percent} ${spent}`);
      }
    }
  }
}

describe('thresholds under random spending, limits, subscriptions and replays', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test('fire exactly when and for whom a model predicts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        const first = await createPayer(db.pool);
        const payers: Payer[] = [first, await addKey(db.pool, first)];
        const model = new Model();
        const batches: UsageRecord[][] = [];
        for (const one of steps) {
          if ('flush' in one) {
            const records = one.flush.map(({ key, cents, time, failed, widget }) =>
              callOf(payers[key]!, failed ? 0 : cents, {
                createdAt: TIMES[time]!,
                ...(widget && { keyId: null }),
                ...(failed && { status: 'error' as const, cost: 0n }),
              }),
            );
            batches.push(records);
            await flushBatch(db.pool, records);
            const counted = one.flush.filter(({ failed, widget }) => !failed && !widget);
            model.flushed(
              counted.map(({ key, cents, time }) => ({
                key,
                cents,
                month: new Date(TIMES[time]!).toISOString().slice(0, 7),
              })),
            );
          } else if ('replay' in one) {
            const batch = batches[one.replay % Math.max(1, batches.length)];
            if (batch) await flushBatch(db.pool, batch);
          } else if ('limit' in one) {
            model.limits[one.key] = one.limit;
            await limitKey(db.pool, payers[one.key]!, one.limit === null ? null : one.limit / 100);
          } else if ('subscribe' in one) {
            const { subscribe: thresholds, active, key } = one;
            const id = await subscribe(db.pool, payers[key]!, thresholds, { active });
            model.subscriptions.push({ id, key, thresholds, active });
          } else {
            const toggled = model.subscriptions[one.toggle % Math.max(1, model.subscriptions.length)];
            if (!toggled) continue;
            toggled.active = !toggled.active;
            await db.pool.query(
              'update alert_subscriptions set active = $2, updated_at = now() where id = $1',
              [toggled.id, toggled.active],
            );
          }
        }
        const fired = (await eventsOf(db.pool, first)).map(
          (event) =>
            `${event.subscription_id} ${event.billing_month} ${event.threshold_pct} ${Math.round(Number(event.spend) * 100)}`,
        );
        expect(fired.sort()).toEqual([...model.fired].sort());
      }),
      { numRuns: 60 },
    );
    expect(await checkInvariants(db.pool)).toEqual([]);
  }, 60_000);
});
