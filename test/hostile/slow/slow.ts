import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Rig } from '../../faults/rig/rig.js';
import { until } from '../../support/until.js';
import type { Cuts, Latency } from './messages.js';

/** A process that answers every message with its results so far. */
interface Reporter<T> {
  /** The next report that it sends by itself. */
  next(): Promise<T>;
  report(): Promise<T>;
  end(): Promise<void>;
}

function reporter<T>(script: 'neighbour' | 'attacker', ...args: (string | number)[]): Reporter<T> {
  const path = fileURLToPath(new URL(`${script}.js`, import.meta.url));
  const child: ChildProcess = fork(path, args.map(String), { execArgv: [] });
  const next = async (): Promise<T> => (await once(child, 'message'))[0] as T;
  return {
    next,
    report() {
      const report = next();
      child.send('report');
      return report;
    },
    async end() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Slow clients against an address, all connected when it resolves. */
export async function startAttack(
  url: string,
  key: string,
  loris: number,
  stalled: number,
): Promise<Reporter<Cuts>> {
  const attackers = reporter<Cuts>('attacker', url, key, loris, stalled);
  await attackers.next();
  return attackers;
}

export interface SlowOptions {
  /** Half of them send headers byte by byte, half a body. */
  loris: number;
  /** They ask for a long stream and take none of it. */
  stalled: number;
  /** How long others are measured, before and meanwhile. */
  watchMs: number;
  /** Waits until the last of them was cut, which takes a minute. */
  toTheEnd: boolean;
}

export interface SlowResult {
  before: Latency;
  during: Latency;
  /** Of the edge process. */
  rssGrowthBytes: number;
  cuts: Cuts;
  /** From the last byte that a stalled reader's stream moved to its end, the longest. */
  slowestStalledMs: number;
}

const PARTS = 4;
const WARM_STREAMS = 100;
/** Of 10 kB: far more than an edge holds of a stream, so that each fills what it may. */
const WARM_WORDS = 200;
const SETTLE_MS = 500;

/** Runs slow clients against the edge while a good one measures. */
export async function slowClients(rig: Rig, options: SlowOptions): Promise<SlowResult> {
  const [attacker, good] = await rig.customers(2);
  // The process at its working size: what it keeps of a burst it keeps whoever reads.
  await Promise.all(
    Array.from({ length: WARM_STREAMS }, () =>
      rig.journal.call(rig.url, good!.key, { words: WARM_WORDS, wordBytes: 10_000 }, { stream: true }),
    ),
  );
  const neighbour = reporter<Latency>('neighbour', rig.url, good!.key);
  /** The calmest of some parts: what slow clients cost is in each of them, what else the machine does is not. */
  const measure = async (): Promise<Latency> => {
    await neighbour.report();
    const parts: Latency[] = [];
    for (let part = 0; part < PARTS; part++) {
      await pause(options.watchMs / PARTS);
      parts.push(await neighbour.report());
    }
    return {
      requests: parts.reduce((sum, { requests }) => sum + requests, 0),
      p50: Math.min(...parts.map(({ p50 }) => p50)),
      p99: Math.min(...parts.map(({ p99 }) => p99)),
    };
  };
  let attack: Reporter<Cuts> | undefined;
  try {
    await pause(SETTLE_MS);
    const before = await measure();
    const rss = rig.edge.memory();
    attack = await startAttack(rig.url, attacker!.key, options.loris, options.stalled);
    const stalledSince = await standstill(rig, options.stalled);
    const during = await measure();
    const rssGrowthBytes = rig.edge.memory() - rss;
    const cuts = await untilCut(attack, options);
    if (options.toTheEnd)
      await until(() => stalledOf(rig).every(({ closedAt }) => closedAt > 0), { timeoutMs: 90_000 });
    const slowestStalledMs = Math.max(0, ...stalledOf(rig).map(({ closedAt }) => closedAt - stalledSince));
    return { before, during, rssGrowthBytes, cuts, slowestStalledMs };
  } finally {
    await attack?.end();
    await neighbour.end();
  }
}

const stalledOf = (rig: Rig) =>
  [...rig.upstream.forwarded.values()].filter(({ order }) => order.n >= 1_000_000);

/** When the streams of all stalled readers stopped moving. */
async function standstill(rig: Rig, stalled: number): Promise<number> {
  const sent = () => stalledOf(rig).reduce((sum, { sent: deltas }) => sum + deltas, 0);
  await until(() => stalledOf(rig).length === stalled, {
    timeoutMs: 60_000,
    what: 'all streams to have begun',
  });
  for (let last = -1; last !== sent(); ) {
    last = sent();
    await pause(SETTLE_MS);
  }
  return performance.now() - SETTLE_MS;
}

async function untilCut(attack: Reporter<Cuts>, { loris, toTheEnd }: SlowOptions): Promise<Cuts> {
  for (;;) {
    const cuts = await attack.report();
    if (cuts.open === 0 || (!toTheEnd && cuts.headersMs.length >= loris / 2)) return cuts;
    await pause(100);
  }
}
