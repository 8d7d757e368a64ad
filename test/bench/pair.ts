import { spawnSync } from 'node:child_process';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-port.js';
import type { Ledger } from './ledger.js';
import { type Lengths, Measured, median, startGenerator } from './measure.js';
import { start } from './processes.js';
import { type RunningTarget, startEdge, type TargetContext } from './targets.js';

/** The cost of a request and the rate of both edges; or why they weren't measured. */
export type Pair = { cpuPerRequest: number; rps: number } | string;

/**
 * Two edges over one database and one Redis, each on a core, the second beside generator, upstream and database. A line that says why when they
 * can't be measured here.
 */
export async function measurePair(
  context: TargetContext,
  ledgers: (name: string) => Promise<Ledger>,
  dist: string,
  lengths: Lengths,
): Promise<Pair> {
  if (spawnSync('redis-server', ['--version']).error) return 'left out, since redis-server is not installed';
  const port = await freePort();
  const server = start('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '']);
  const redis = new Redis({ port, host: '127.0.0.1' });
  redis.on('error', () => undefined);
  const edges: RunningTarget[] = [];
  try {
    await redis.ping();
    const ledger = await ledgers('bench_pair');
    await ledger.seal('sk-virtual-of-the-bench');
    const { cores } = context;
    for (const [name, core] of [
      ['pair-1', cores?.target],
      ['pair-2', cores?.rest],
    ] as const) {
      const upstreamUrl = `http://127.0.0.1:${context.upstreamPort}`;
      const env = { REDIS_URL: `redis://127.0.0.1:${port}` };
      const place = cores && { ...cores, target: core! };
      edges.push(await startEdge({ ...context, cores: place }, { name, ledger, dist, upstreamUrl, env }));
    }
    return await measureBoth(edges, redis, lengths);
  } finally {
    await Promise.all(edges.map((edge) => edge.stop()));
    redis.disconnect();
    await server.stop();
  }
}

async function measureBoth(edges: RunningTarget[], redis: Redis, lengths: Lengths): Promise<Pair> {
  const generators = edges.map(() => startGenerator());
  try {
    const all = edges.map((edge, i) => new Measured(edge, generators[i]!));
    await Promise.all(all.map((measured) => measured.warm(lengths.saturateMs)));
    const commands = await redis.info('commandstats');
    if (!commands.includes('cmdstat_eval')) return 'left out, since this build keeps no counters in Redis';
    for (let round = 0; round < lengths.rounds; round++) {
      await Promise.all(all.map((measured) => measured.saturate(lengths.saturateMs)));
    }
    const figures = (name: string): number[] => all.map(({ figures }) => median(figures.get(name)));
    const rps = figures('cpuPerRequestRps').reduce((sum, value) => sum + value, 0);
    return { cpuPerRequest: median(figures('cpuPerRequest')), rps };
  } finally {
    await Promise.all(generators.map((generator) => generator.stop()));
  }
}
