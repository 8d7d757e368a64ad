import { monthStart, utcMonth } from '../../src/lib/clock.js';
import { flushBatch } from '../../src/metering/flush.store.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { updateKeyInput } from '../../src/services/keys/keys.inputs.js';
import { callOf, eventsOf, subscribe } from '../alerts/support.js';
import { contextOf } from '../billing/fixtures.js';
import { createPayer } from '../metering/support.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import fc from '../support/fast-check.js';
import { keysServiceAt } from './fixtures.js';

const NOW = Date.now();
/** In a month that is over, in this one and in the next. */
const TIMES = [monthStart(NOW).getTime() - 1, NOW, monthStart(NOW, 1).getTime()];

const call = fc.record({
  cents: fc.constantFrom(0, 1, 5, 20, 60),
  time: fc.constantFrom(0, 1, 1, 1, 2),
  failed: fc.boolean(),
});
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ flush: fc.array(call, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ replay: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ limit: fc.constantFrom(null, 0, 10, 50, 100, 333) }) },
  // Removed and set again.
  { weight: 2, arbitrary: fc.record({ relimit: fc.constantFrom(10, 333, 9_999) }) },
  { weight: 2, arbitrary: fc.record({ guard: fc.constantFrom(null, 1, 33, 50, 100) }) },
  { weight: 2, arbitrary: fc.constant({ undo: true }) },
);

/** What a guard must do, worked out from what happened and nothing else. */
class Model {
  limit: number | null = null;
  atPct: number | null = null;
  actedMonth: string | null = null;
  undone = false;
  readonly acts: string[] = [];
  readonly #spent = new Map<string, number>();

  flushed(calls: readonly { cents: number; month: string }[]): void {
    for (const { cents, month } of calls) this.#spent.set(month, (this.#spent.get(month) ?? 0) + cents);
    this.act(calls.map(({ month }) => month));
  }

  act(months: readonly string[]): void {
    const reached = months
      .filter((month) => month >= utcMonth(NOW) && this.#reaches(month))
      .filter((month) => this.actedMonth === null || this.actedMonth < month)
      .sort();
    const month = reached.at(-1);
    if (month === undefined) return;
    this.actedMonth = month;
    this.undone = false;
    this.acts.push(`${month} ${this.atPct} ${this.#spent.get(month)}`);
  }

  set(atPct: number | null): void {
    this.atPct = atPct;
    this.actedMonth = null;
    this.undone = false;
  }

  setLimit(limit: number | null): void {
    this.limit = limit;
    if (limit === null && !this.undone) this.actedMonth = null;
  }

  get status(): string {
    if (this.atPct === null || this.limit === null) return 'off';
    if (this.actedMonth !== utcMonth(NOW)) return 'armed';
    return this.undone ? 'undone' : 'acting';
  }

  #reaches(month: string): boolean {
    const spent = this.#spent.get(month) ?? 0;
    return this.atPct !== null && this.limit !== null && spent > 0 && spent * 100 >= this.atPct * this.limit;
  }
}

describe('the guard of a key under random spending, limits, settings, undoing and replays', () => {
  let db: TestDatabase;
  const keys = keysServiceAt('http://127.0.0.1:9');
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test('acts exactly when a model predicts it, with one alert each time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
        const payer = await createPayer(db.pool);
        const context = contextOf(db, payer.accountId, () => NOW);
        const patch = (change: unknown) =>
          keys.update(context, { ...updateKeyInput.parse(change), id: payer.keyId });
        await subscribe(db.pool, payer, [77]);
        const model = new Model();
        const batches: UsageRecord[][] = [];
        for (const one of steps) {
          if ('flush' in one) {
            const records = one.flush.map(({ cents, time, failed }) =>
              callOf(payer, failed ? 0 : cents, {
                createdAt: TIMES[time]!,
                ...(failed && { status: 'error' as const, cost: 0n }),
              }),
            );
            batches.push(records);
            await flushBatch(db.pool, records);
            model.flushed(
              one.flush.map(({ cents, time, failed }) => ({
                cents: failed ? 0 : cents,
                month: utcMonth(TIMES[time]!),
              })),
            );
          } else if ('replay' in one) {
            const batch = batches[one.replay % Math.max(1, batches.length)];
            if (batch) await flushBatch(db.pool, batch);
          } else if ('limit' in one || 'relimit' in one) {
            for (const limit of 'limit' in one ? [one.limit] : [null, one.relimit]) {
              model.setLimit(limit);
              await patch({ monthly_limit_usd: limit === null ? null : limit / 100 });
              model.act([utcMonth(NOW)]);
            }
          } else if ('guard' in one) {
            model.set(one.guard);
            await patch({ guard: one.guard === null ? null : { at_pct: one.guard, action: 'slow' } });
            model.act([utcMonth(NOW)]);
          } else {
            if (model.actedMonth === utcMonth(NOW)) model.undone = true;
            await keys.undoGuard(context, { id: payer.keyId });
          }
          expect((await keys.get(context, { id: payer.keyId })).guard_status).toBe(model.status);
        }
        const guardEvents = (await eventsOf(db.pool, payer)).filter(({ purpose }) => purpose === 'guard');
        expect(
          guardEvents.map(
            (event) =>
              `${event.billing_month} ${event.threshold_pct} ${Math.round(Number(event.spend) * 100)}`,
          ),
        ).toEqual(expect.arrayContaining(model.acts));
        expect(guardEvents).toHaveLength(model.acts.length);
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
