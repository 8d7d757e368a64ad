import { Agent } from 'node:http';
import { outcome } from '../rig/client.js';
import { type Result, scaled, share, withRig } from './goal.js';

const CALLS = 1_000_000;
const CALLERS = 16;
/** How often the driver forgets its calls. */
const BATCH = 5_000;

/** G15: calls of a few callers at once, without any fault. */
export function faultFree(scale: number): Promise<Result> {
  const calls = scaled(CALLS, scale, 5_000);
  return withRig('G15', {}, async (rig, customers) => {
    const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
    const odd: Record<string, number> = {};
    let made = 0;
    const began = performance.now();
    const caller = async (): Promise<void> => {
      for (;;) {
        const i = made++;
        if (i >= calls) return;
        const { key } = customers[i % customers.length]!;
        const entry = await rig.journal.call(
          rig.url,
          key,
          { words: 1 + (i % 20) },
          { stream: i % 2 === 0, agent },
        );
        if (outcome(entry) !== '200') odd[outcome(entry)] = (odd[outcome(entry)] ?? 0) + 1;
        if (rig.journal.entries.length > BATCH) rig.journal.entries.length = 0;
        if (rig.upstream.forwarded.size > BATCH) rig.upstream.forwarded.clear();
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    const seconds = (performance.now() - began) / 1_000;
    agent.destroy();
    const failed = Object.values(odd).reduce((sum, count) => sum + count, 0);
    return {
      goal: `G15 errors without faults, ${CALLERS} callers`,
      figure: '≤ 10 per 1,000,000 calls',
      reached: `${failed} of ${calls} (${share(failed, calls)}) ${failed > 0 ? JSON.stringify(odd) : ''}, ${(calls / seconds).toFixed(0)} calls/s`,
      ok: failed <= calls / 100_000,
    };
  });
}
