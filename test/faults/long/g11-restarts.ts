import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/until.js';
import { compareBooks } from '../rig/books.js';
import { outcome } from '../rig/client.js';
import type { Rig } from '../rig/rig.js';
import {
  allShare,
  faultsOf,
  faultsText,
  largest,
  percentile,
  type Result,
  scaled,
  under,
  withRig,
} from './goal.js';

const RESTARTS = 20;
const PER_SECOND = 200;
const EXIT_MS = 35_000;
const START_MS = 2_000;
const ADOPTION_MS = 10_000;

/** G11, G12: two edges, restarted in turn under load, behind a front that tries the other one. */
export function restarts(scale: number): Promise<Result[]> {
  const count = scaled(RESTARTS, Math.min(1, scale * 10), 4);
  return withRig('G11', { edges: 2 }, async (rig, customers) => {
    await allShare(rig);
    rig.front!.retriesUnanswered = true;
    const stops: number[] = [];
    const starts: number[] = [];
    const left: number[] = [];
    const entries = await under(rig, customers, { perSecond: PER_SECOND, streams: false }, async () => {
      for (let i = 0; i < count; i++) {
        const edge = rig.edges[i % 2]!;
        await pause(rig.random.between(300, 1_500));
        stops.push((await edge.end('SIGTERM')).tookMs);
        left.push(rig.spools().length - 1);
        starts.push(await edge.start());
      }
    });
    rig.front!.retriesUnanswered = false;
    const failed = entries.filter((entry) => outcome(entry) !== '200');
    const orders = [...rig.upstream.forwarded.values()].map(({ order }) => order.n);
    const twice = orders.length - new Set(orders).size;
    const { books } = await compareBooks(rig);
    const endless = await stopWithEndlessStream(rig, customers[0]!.key);
    const adoption = await adoptionMs(rig, customers[0]!.key);
    return [
      {
        goal: `G11 ${count} rolling restarts of two edges at ${PER_SECOND} calls/s`,
        figure: '0 failed non-stream calls; exit ≤ 35 s; spool empty',
        reached: `${failed.length} of ${entries.length} calls failed${failed.length > 0 ? ` ${JSON.stringify(rig.journal.tally(failed))}` : ''}; ${rig.front!.retried()} connections went to the other edge, calls forwarded twice: ${twice}; longest stop ${largest(stops).toFixed(0)} ms, with an endless stream ${(endless.tookMs / 1_000).toFixed(1)} s (it ended by: ${endless.outcome}); spools left behind: ${largest(left)}; books: ${faultsText(books)}`,
        ok:
          failed.length + twice === 0 &&
          largest([...stops, endless.tookMs]) <= EXIT_MS &&
          largest(left) === 0 &&
          faultsOf(books) === 0,
      },
      {
        goal: 'G12 start of an edge',
        figure: 'serves ≤ 2 s after its start; orphan spool adopted ≤ 10 s',
        reached: `p50 ${percentile(starts, 0.5).toFixed(0)} ms, longest ${largest(starts).toFixed(0)} ms of ${starts.length}, beside ${PER_SECOND} calls/s; spool of a killed edge adopted by the other after ${adoption.toFixed(0)} ms`,
        ok: largest(starts) <= START_MS && adoption <= ADOPTION_MS,
      },
    ];
  });
}

/** A stream that would go on for minutes doesn't keep an edge from ending. */
async function stopWithEndlessStream(rig: Rig, key: string): Promise<{ tookMs: number; outcome: string }> {
  const edge = rig.edges[0]!;
  const order = { words: 6_000, chunkMs: 20 };
  const call = rig.journal.call(edge.url, key, order, { stream: true, limitMs: 60_000 });
  await until(() => rig.upstream.open() > 0);
  const { tookMs } = await edge.end('SIGTERM');
  const entry = await call;
  await edge.start();
  return { tookMs, outcome: outcome(entry) };
}

/** From the kill of one edge to the moment at which the other has committed its spool. */
async function adoptionMs(rig: Rig, key: string): Promise<number> {
  const call = rig.journal.call(rig.edges[0]!.url, key, { fault: 'silent' });
  await until(async () => (await rig.edges[0]!.metric('gateway_open_holds')) === 1);
  await rig.edges[0]!.end('SIGKILL');
  const killed = performance.now();
  await call;
  const { n } = await call;
  const { id } = await until(() => [...rig.upstream.forwarded.values()].find(({ order }) => order.n === n));
  await until(
    async () => (await rig.postgres.pool.query('select from usage_events where id = $1', [id])).rowCount,
    { timeoutMs: 60_000 },
  );
  return performance.now() - killed;
}
