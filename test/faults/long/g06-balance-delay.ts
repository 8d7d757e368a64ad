import { until } from '../../support/until.js';
import { steadyLoad } from '../rig/client.js';
import { percentile, type Result, scaled, withRig } from './goal.js';

const SECONDS = 60;
const PER_SECOND = 500;

/** G6: from the last byte of an answer to its debit in the database. */
export function balanceDelay(scale: number): Promise<Result> {
  const seconds = scaled(SECONDS, scale, 5);
  return withRig('G6', {}, async (rig, customers) => {
    const delays: number[] = [];
    const look = async (id: string): Promise<void> => {
      const began = performance.now();
      await until(
        async () =>
          (await rig.postgres.pool.query('select from calls where id = $1 and seq is not null', [id]))
            .rowCount,
        { intervalMs: 5 },
      );
      delays.push(performance.now() - began);
    };
    const end = performance.now() + seconds * 1_000;
    const made = await steadyLoad(
      PER_SECOND,
      () => performance.now() > end,
      async (i) => {
        const entry = await rig.journal.call(rig.url, customers[i % 20]!.key, { words: 5 });
        if (i % 50 === 0 && entry.complete) await look(entry.id!);
      },
    );
    const took = rig.journal.entries.at(-1)!.startedAt - rig.journal.entries[0]!.startedAt;
    const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
    return {
      goal: 'G6 event to visible balance',
      figure: 'p50 ≤ 100 ms, p99 ≤ 500 ms at 500 calls/s',
      reached: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms at ${((made / took) * 1_000).toFixed(0)} calls/s (${delays.length} samples)`,
      ok: p50 <= 100 && p99 <= 500,
    };
  });
}
