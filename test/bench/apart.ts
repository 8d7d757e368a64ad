import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../../src/db/embedded.js';
import { freePort } from '../support/free-port.js';
import { createLedger } from './ledger.js';
import { cpuMicros, machineLine, takeCores } from './machine.js';
import { median, startGenerator } from './measure.js';
import { start, startOwn } from './processes.js';
import { type RunningTarget, startEdge, startEdges } from './targets.js';

/**
 * `node build/test/bench/apart.js [rounds] [dist]`: what a call costs one edge, two edges that share nothing, two edges on one
 * port over a Redis of their own, and one or two over another Redis. All run on the same core
 * except that Redis, whose CPU time is listed separately. How far two that share nothing stay behind one is the machine's part: another process to
 * switch to, and turns of the event loop with fewer calls.
 */
const CONNECTIONS = 64;
const WARM_MS = 3_000;
const MEASURE_MS = 2_000;
/** Usage is written a moment after the response. */
const AFTERMATH_MS = 200;

const rounds = Number(process.argv[2] ?? 5);
const DIST = process.argv[3] ?? 'dist';
const cores = takeCores();
process.stdout.write(`${machineLine(cores)}\n`);
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
chmodSync(folder, 0o755);
const server = await startEmbeddedPostgres({ directory: join(folder, 'postgres') });
const upstreamPort = await freePort();
const upstream = startOwn('upstream', [String(upstreamPort)]);
const generators = [startGenerator(), startGenerator()];
// Processes that get all cores elsewhere get the target's core here.
const context = { upstreamPort, cores: cores && { target: cores.target, rest: cores.target }, folder };

const redisPort = await freePort();
const redis = spawnSync('redis-server', ['--version']).error
  ? undefined
  : start('redis-server', ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '']);

async function optionsOf(name: string) {
  const ledger = await createLedger(server, name.replaceAll('-', '_'));
  await ledger.seal('sk-virtual-of-the-bench');
  return { name, ledger, dist: DIST, upstreamUrl: `http://127.0.0.1:${upstreamPort}` };
}

/** CPU microseconds per call, with load on each of `targets` over this many connections: theirs, and those of Redis. */
async function costOf(
  targets: readonly RunningTarget[],
  connections: number,
  ms: number,
): Promise<{ edges: number; redis: number }> {
  const pids = targets.flatMap((running) => running.pids);
  const ofRedis = () => (redis ? cpuMicros([redis.pid]) : 0);
  const [before, redisBefore] = [cpuMicros(pids), ofRedis()];
  const results = await Promise.all(
    targets.map(({ target }, i) => generators[i]!.run({ kind: 'saturate', target, connections, ms })),
  );
  await delay(AFTERMATH_MS);
  const calls = results.reduce((sum, { answers }) => sum + answers, 0);
  return { edges: (cpuMicros(pids) - before) / calls, redis: (ofRedis() - redisBefore) / calls };
}

const started: RunningTarget[] = [];
try {
  for (const name of ['alone', 'apart-1', 'apart-2'])
    started.push(await startEdge(context, await optionsOf(name)));
  const [alone, first, second] = started as [RunningTarget, RunningTarget, RunningTarget];
  const together = await startEdges(context, 2, await optionsOf('together'));
  started.push(together);
  const overRedis: RunningTarget[] = [];
  if (redis) {
    const options = await optionsOf('redis');
    const env = { REDIS_URL: `redis://127.0.0.1:${redisPort}` };
    for (const name of ['redis-1', 'redis-2'])
      overRedis.push(await startEdge(context, { ...options, name, env }));
    started.push(...overRedis);
  }
  for (const target of started) await costOf([target], CONNECTIONS, WARM_MS);
  const cases: [string, RunningTarget[], number][] = [
    ['one edge', [alone], CONNECTIONS],
    ['two that share nothing, half of the connections each', [first, second], CONNECTIONS / 2],
    ['two on one port, half of the connections each', [together], CONNECTIONS],
    ['two that share nothing, as many connections each', [first, second], CONNECTIONS],
    ['two on one port, as many connections each', [together], 2 * CONNECTIONS],
  ];
  if (redis) {
    cases.push(
      ['one of two over Redis', [overRedis[0]!], CONNECTIONS],
      ['two over Redis, half of the connections each', overRedis, CONNECTIONS / 2],
      ['two over Redis, as many connections each', overRedis, CONNECTIONS],
    );
  }
  const costs = cases.map((): Awaited<ReturnType<typeof costOf>>[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, [, targets, connections]] of cases.entries())
      costs[i]!.push(await costOf(targets, connections, MEASURE_MS));
  }
  for (const [i, [name]] of cases.entries()) {
    const edges = costs[i]!.map((cost) => cost.edges);
    const all = edges.map((cost) => cost.toFixed(1)).join(' ');
    const share = median(costs[0]!.map((cost) => cost.edges)) / median(edges);
    const ofRedis = median(costs[i]!.map((cost) => cost.redis));
    const besides = name.includes('Redis') ? `, Redis ${ofRedis.toFixed(1)} µs` : '';
    process.stdout.write(
      `${name}: ${median(edges).toFixed(1)} µs, ${share.toFixed(2)} of one (${all})${besides}\n`,
    );
  }
} finally {
  await Promise.all(generators.map((generator) => generator.stop()));
  await Promise.all(started.map((target) => target.stop()));
  await redis?.stop();
  await upstream.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
