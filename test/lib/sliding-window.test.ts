import { SlidingWindow } from '../../src/lib/sliding-window.js';
import fc from '../support/fast-check.js';

const WINDOW_MS = 60_000;

/** The definition without a ring: the number of allowed tries in the last window. */
class Model {
  allowed: number[] = [];
  constructor(public limit: number) {}
  take(now: number): boolean {
    const inside = this.allowed.filter((time) => time > now - WINDOW_MS).length;
    if (inside >= this.limit) return false;
    this.allowed.push(now);
    return true;
  }
}

describe('a sliding window', () => {
  test('allows exactly what its definition allows, even when the limit changes', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ wait: fc.integer({ min: 0, max: 30_000 }) }),
        fc.record({ limit: fc.integer({ min: 1, max: 8 }) }),
      ),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), steps, (limit, list) => {
        const window = new SlidingWindow(limit, WINDOW_MS);
        const model = new Model(limit);
        let now = 1_000_000;
        for (const step of list) {
          if ('limit' in step) {
            window.resize(step.limit);
            model.limit = step.limit;
            continue;
          }
          now += step.wait;
          expect(window.take(now).allowed).toBe(model.take(now));
        }
      }),
    );
  });

  test('returns when one more is allowed, which is exact to the millisecond', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 3, maxLength: 3 }), (gaps) => {
        const window = new SlidingWindow(3, WINDOW_MS);
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          expect(window.take(now).allowed).toBe(true);
        }
        const refused = window.take(now + 1);
        expect(refused.allowed).toBe(false);
        expect(window.peek(now + 1 + refused.resetMs - 1).allowed).toBe(false);
        expect(window.peek(now + 1 + refused.resetMs).allowed).toBe(true);
      }),
    );
  });

  test('is exact one window after its clock stepped back, and never allows more than real time does', () => {
    const steps = fc.array(
      fc.record({
        wait: fc.integer({ min: 0, max: 40_000 }),
        back: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 7_200_000 })),
        tries: fc.integer({ min: 0, max: 6 }),
        noted: fc.boolean(),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), steps, (limit, list) => {
        const window = new SlidingWindow(limit, WINDOW_MS);
        let [real, clock] = [0, 100_000_000];
        let letIn: number[] = [];
        const inLastWindow = () => letIn.filter((time) => time > real - WINDOW_MS);
        for (const { wait, back, tries, noted } of list) {
          real += wait;
          clock += wait - back;
          for (let i = 0; i < tries; i++) {
            // Another counter, which uses real time, may have allowed it.
            if (noted && inLastWindow().length < limit) {
              window.note(clock);
              letIn.push(real);
              continue;
            }
            const { allowed, resetMs } = window.take(clock);
            if (allowed) letIn.push(real);
            expect(resetMs).toBeLessThanOrEqual(WINDOW_MS);
          }
          letIn = inLastWindow();
          expect(letIn.length).toBeLessThanOrEqual(limit);
        }
        window.peek(clock);
        clock += WINDOW_MS;
        expect(window.peek(clock)).toMatchObject({ allowed: true, remaining: limit, resetMs: 0 });
      }),
    );
  });
});
