import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestKey } from '../../support/edge.js';
import { checkInvariants } from '../../support/invariants.js';
import { until } from '../../support/until.js';
import { type CallOptions, steadyLoad } from '../rig/client.js';
import type { Rig } from '../rig/rig.js';
import type { Order } from '../rig/upstream.js';
import { scaled, withRig } from './goal.js';
import type { Piece } from './pieces.js';

const HOURS = 4;
const SHARE_OF_CAPACITY = 0.6;
const CAPACITY_MS = 5_000;
/** Memory settles in this time of a run that is long enough. */
const SETTLING_MS = 30 * 60_000;
const SAMPLE_MS = 2_000;
const MIB = 2 ** 20;
/** How often the driver forgets its calls. */
const BATCH = 5_000;
/** With more calls at once, the machine is too busy for the pace, which would show in memory. */
const MOST_OPEN = 200;
/** Unused connections to upstream and database are closed within this time. */
const QUIET_MS = 120_000;

interface Footprint {
  rssBytes: number;
  heapBytes: number;
  descriptors: number;
  /** Sockets, timers and whatever else keeps the loop of the process alive. */
  resources: number;
  timers: number;
}

/**
 * G14: hours of load with hang-ups and faults of the upstream. Below an hour, growth after a third of the time counts
 * instead of its slope.
 */
export function soak(scale: number): Promise<Piece> {
  const durationMs = scaled(HOURS * 3_600_000, scale, 60_000);
  return withRig('G14', {}, async (rig, customers) => {
    const capacity = await capacityOf(rig, customers);
    const perSecond = Math.max(20, Math.round(capacity * SHARE_OF_CAPACITY));
    // Statement plans and compiled code, which a first load leaves for good, don't count as growth.
    await run(rig, customers, perSecond, Math.min(durationMs / 3, SETTLING_MS), () => undefined);
    const before = await quiet(rig);
    const samples: { at: number; rssBytes: number }[] = [];
    const sample = () => samples.push({ at: performance.now(), rssBytes: rig.edge.memory() });
    const calls = await run(rig, customers, perSecond, durationMs, sample);
    const last = samples.at(-1)!;
    const after = await quiet(rig, before);
    const long = durationMs > 2 * SETTLING_MS;
    const slope = mibPerHour(samples);
    // At the calmest moments of each tenth, so that uncollected garbage doesn't count as growth.
    const growth =
      lowest(samples.slice(-samples.length / 10)) - lowest(samples.slice(0, samples.length / 10));
    const heldEach = (after.heapBytes - before.heapBytes) / calls;
    const violations = await checkInvariants(rig.postgres.pool);
    const settled =
      after.descriptors <= before.descriptors + 2 &&
      after.resources <= before.resources + 2 &&
      after.timers <= before.timers + 2;
    return {
      goal: `G14 soak: ${(durationMs / 60_000).toFixed(0)} min, ${calls} calls at ${perSecond}/s (60 % of ${capacity.toFixed(0)}/s), 20 % hang-ups, 5 % upstream faults`,
      figure:
        'RSS slope ≤ 2 MiB/h after 30 min of 4 h; short: growth ≤ 12 MiB; sockets, timers, handles back to baseline',
      reached: `RSS ${(before.rssBytes / MIB).toFixed(0)} MiB before, ${(last.rssBytes / MIB).toFixed(0)} MiB at the end: growth ${(growth / MIB).toFixed(1)} MiB, slope ${slope.toFixed(1)} MiB/h${long ? '' : ' (too short to judge)'}; heap in use ${heldEach.toFixed(1)} B/call more; descriptors ${before.descriptors} → ${after.descriptors}, active resources ${before.resources} → ${after.resources}, timers ${before.timers} → ${after.timers}; broken invariants: ${violations.length}`,
      ok: (long ? slope <= 2 : growth <= 12 * MIB) && settled && violations.length === 0,
      sums: { minutes: durationMs / 60_000, calls, 'broken invariants': violations.length },
      most: {
        'RSS growth (MiB)': growth / MIB,
        'heap in use (B/call)': heldEach,
        'descriptors more': after.descriptors - before.descriptors,
        'timers more': after.timers - before.timers,
      },
    };
  });
}

/** Calls per second of callers who each wait for their answer. */
async function capacityOf(rig: Rig, customers: TestKey[]): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const end = performance.now() + CAPACITY_MS;
  let made = 0;
  const caller = async (i: number): Promise<void> => {
    for (; performance.now() < end; made++) await rig.journal.call(rig.url, customers[i]!.key, {}, { agent });
  };
  await Promise.all(customers.map((_, i) => caller(i)));
  agent.destroy();
  return (made / CAPACITY_MS) * 1_000;
}

/** Makes load for a time. Returns the number of calls. */
async function run(
  rig: Rig,
  customers: TestKey[],
  perSecond: number,
  durationMs: number,
  sample: () => void,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const end = performance.now() + durationMs;
  const sampling = setInterval(sample, SAMPLE_MS);
  let open = 0;
  let made = 0;
  await steadyLoad(
    perSecond,
    () => performance.now() > end,
    async (i) => {
      if (open >= MOST_OPEN) return;
      open++;
      made++;
      const [order, options] = mixed(i, rig);
      await rig.journal.call(rig.url, customers[i % customers.length]!.key, order, { ...options, agent });
      open--;
      if (rig.journal.entries.length > BATCH) rig.journal.entries.length = 0;
      if (rig.upstream.forwarded.size > BATCH) rig.upstream.forwarded.clear();
    },
  );
  clearInterval(sampling);
  sample();
  agent.destroy();
  return made;
}

/** Of twenty calls, callers leave four, and one meets a fault. */
function mixed(i: number, rig: Rig): [Omit<Order, 'n'>, CallOptions] {
  const stream = i % 2 === 0;
  const words = 1 + (i % 20);
  switch (i % 20) {
    case 3:
    case 8:
      return [
        { words: 200, chunkMs: 1 },
        { stream: true, leaveAfter: rig.random.between(1, 20) },
      ];
    case 11:
    case 16:
      return [
        { words, ttftMs: 100 },
        { stream, leaveAfterMs: rig.random.between(0, 80) },
      ];
    case 19:
      return [
        { words: 10, after: 3, fault: rig.random.pick(['reset', 'truncate', 'garbage', 'refuse'] as const) },
        { stream },
      ];
    default:
      return [{ words }, { stream }];
  }
}

/** The idle edge's memory; with a baseline, as soon as it is back there or no longer falls. */
async function quiet(rig: Rig, baseline?: Footprint): Promise<Footprint> {
  const drained = async () =>
    (await rig.edge.metric('metering_spool_events')) === 0 &&
    (await rig.edge.metric('gateway_open_holds')) === 0;
  await until(drained, { timeoutMs: 60_000, what: 'the edge to be idle' });
  if (!baseline) {
    await pause(15_000);
    return footprint(rig);
  }
  const back = async () => {
    const now = await footprint(rig);
    return now.descriptors <= baseline.descriptors + 2 && now.resources <= baseline.resources + 2;
  };
  await until(back, { timeoutMs: QUIET_MS, intervalMs: 1_000 }).catch(() => undefined);
  return footprint(rig);
}

async function footprint(rig: Rig): Promise<Footprint> {
  const { edge } = rig;
  return {
    rssBytes: edge.memory(),
    heapBytes: await edge.metric('nodejs_heap_size_used_bytes'),
    descriptors: readdirSync(`/proc/${edge.pid()}/fd`).length,
    resources: await edge.metric('nodejs_active_resources_total'),
    timers: await edge.metric('nodejs_active_resources', 'type="Timeout"'),
  };
}

const lowest = (samples: { rssBytes: number }[]): number =>
  Math.min(...samples.map(({ rssBytes }) => rssBytes));

/** Least squares. */
function mibPerHour(samples: { at: number; rssBytes: number }[]): number {
  const meanAt = samples.reduce((sum, { at }) => sum + at, 0) / samples.length;
  const meanRss = samples.reduce((sum, { rssBytes }) => sum + rssBytes, 0) / samples.length;
  let covariance = 0;
  let variance = 0;
  for (const { at, rssBytes } of samples) {
    covariance += (at - meanAt) * (rssBytes - meanRss);
    variance += (at - meanAt) ** 2;
  }
  return ((covariance / variance) * 3_600_000) / MIB;
}
