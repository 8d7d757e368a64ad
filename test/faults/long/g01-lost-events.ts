import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/until.js';
import { compareBooks } from '../rig/books.js';
import type { Rig } from '../rig/rig.js';
import { faultsOf, faultsText, type Result, scaled, under, withRig } from './goal.js';

const KILLS = 300;
const CALLS_PER_KILL = 1_000;
const PER_SECOND = 200;
const VICTIMS = ['edge', 'edge', 'other edge', 'platform', 'jobs', 'postgres', 'proxy'] as const;

/** G1: kills of everything, one after another, and every answer charged. */
export function lostEvents(scale: number): Promise<Result> {
  const kills = scaled(KILLS, scale, VICTIMS.length);
  return withRig('G1', { whole: true, edges: 2, upstream: 'routed' }, async (rig, customers) => {
    const counts: Record<string, number> = {};
    await under(rig, customers, { perSecond: PER_SECOND }, async () => {
      for (let i = 0; i < kills; i++) {
        // Each process once, then at random.
        const victim = VICTIMS[i] ?? rig.random.pick(VICTIMS);
        counts[victim] = (counts[victim] ?? 0) + 1;
        const calls = rig.random.between(CALLS_PER_KILL / 10, (CALLS_PER_KILL * 19) / 10);
        const enough = rig.journal.entries.length + calls;
        await until(() => rig.journal.entries.length >= enough, { timeoutMs: 600_000 });
        await pause(rig.random.between(0, 50));
        await kill(rig, victim);
      }
    });
    const { books, counts: compared } = await compareBooks(rig, { crashes: true, timeoutMs: 60_000 });
    return {
      goal: `G1 lost or invented events over ${kills} kills (${Object.entries(counts)
        .map((entry) => entry.reverse().join(' × '))
        .join(', ')})`,
      figure: '0 of 300,000 completed calls over 300 kills',
      reached: `${faultsText(books)} of ${compared.complete} completed calls (${compared.rows} events)`,
      ok: faultsOf(books) === 0,
    };
  });
}

async function kill(rig: Rig, victim: (typeof VICTIMS)[number]): Promise<void> {
  if (victim === 'postgres') {
    await rig.postgres.kill();
    await rig.postgres.start();
    return;
  }
  const processes = {
    edge: rig.edges[0]!,
    'other edge': rig.edges[1]!,
    platform: rig.platform,
    jobs: rig.jobs,
    proxy: rig.proxy,
  };
  await processes[victim].end('SIGKILL');
  await processes[victim].start();
}
