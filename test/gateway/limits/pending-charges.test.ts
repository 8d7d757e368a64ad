import { PendingCharges } from '../../../src/inference/limits/pending-charges.js';
import fc from '../../support/fast-check.js';

const DAYS = ['2026-11-30', '2026-12-01', '2026-12-02', '2026-12-03'];

test('charges that wait for their commit are kept by day, in whatever order they come and go', () => {
  const step = fc.record({ day: fc.constantFrom(...DAYS), charge: fc.bigInt({ min: -9n, max: 9n }) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const pending = new PendingCharges();
      const expected = new Map(DAYS.map((day) => [day, 0n]));
      for (const { day, charge } of steps) {
        pending.add(charge, day);
        expected.set(day, expected.get(day)! + charge);
      }
      for (const [day, charges] of expected) expect(pending.of(day)).toBe(charges);
      expect(new Map(pending.all())).toEqual(new Map([...expected].filter(([, charges]) => charges !== 0n)));
      expect(pending.sum).toBe([...expected.values()].reduce((sum, charges) => sum + charges, 0n));
    }),
  );
});
