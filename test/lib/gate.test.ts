import { createGate, GateFullError } from '../../src/lib/gate.js';

describe('a gate', () => {
  test('runs so many tasks at once, in order, and refuses beyond its line', async () => {
    const gate = createGate({ atOnce: 2, waiting: 3 });
    let running = 0;
    let most = 0;
    const started: number[] = [];
    const task = (id: number) => async () => {
      started.push(id);
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      if (id === 1) throw new Error('failed');
      return id;
    };
    const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map((id) => gate.run(task(id))));
    expect(most).toBe(2);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason))).toEqual([
      0,
      new Error('failed'),
      2,
      3,
      4,
      expect.any(GateFullError),
    ]);
    await expect(gate.run(task(6))).resolves.toBe(6);
  });
});
