import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/db/embedded.js';
import { freePort } from '../support/free-port.js';
import { measureAnalytics } from './analytics.js';
import { measureIdle } from './idle.js';
import { createLedger, type Ledger, postmaster } from './ledger.js';
import { cpuMicros, family, machineLine, takeCores } from './machine.js';
import { type Generator, type Lengths, Measured, startGenerator } from './measure.js';
import { measureMemory } from './memory.js';
import { measurePair } from './pair.js';
import {
  fetchNode20,
  fetchPortkey,
  firstLine,
  OWN_NODE,
  type Runtime,
  startBare,
  startPortkey,
} from './peers.js';
import { startOwn } from './processes.js';
import { type Findings, renderNotes, renderTable } from './report.js';
import { measureRows } from './rows.js';
import {
  NO_KEY,
  type RunningTarget,
  startEdge,
  startEdges,
  startNginx,
  startWholePath,
  type TargetContext,
} from './targets.js';
import { measureVisibility } from './visible.js';

/**
 * `npm run bench [-- --quick] [-- --peers] [-- --write] [-- --before <dist>]`: the edge beside what it is compared
 * with, in one interleaved run on loopback. `--peers` fetches Portkey and Node 20 from npm: it adds Portkey on both
 * Nodes and, where bare isn't left out, bare on Node 20. `--before` adds another build of this product, `--cpu-prof
 * <folder>` keeps profiles of edge and proxy, `--flags "…"` gives it flags of Node, `--only a,b` leaves out what isn't named
 * (bare, edge, edges, nginx, chain, usage, analytics, pair), `--steps` the same for steps (memory, beside, saturate, paced, streams,
 * first-bytes). `--rounds 40 --window 400` makes more and shorter rounds (milliseconds), for two builds that differ by little.
 * `--only memory` measures the memory of the whole product instead, `--only idle` its database, where `--before` is a built checkout,
 * `--only rows` what a call costs PostgreSQL.
 */
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    before: { type: 'string' },
    only: { type: 'string' },
    steps: { type: 'string' },
    rounds: { type: 'string' },
    window: { type: 'string' },
    flags: { type: 'string' },
    'cpu-prof': { type: 'string' },
  },
});

const FULL: Lengths = {
  rounds: 5,
  warmMs: 4_000,
  saturateMs: 2_500,
  pacedMs: 3_000,
  firstBytesMs: 2_000,
  streams: 200,
  idleStreams: 1_000,
};
const QUICK: Lengths = {
  rounds: 2,
  warmMs: 1_000,
  saturateMs: 1_000,
  pacedMs: 1_000,
  firstBytesMs: 1_000,
  streams: 150,
  idleStreams: 300,
};
const DIST = 'dist';
const DOCUMENT = 'docs/benchmarks.md';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const wants = (name: string): boolean => !options.only || options.only.split(',').includes(name);
const does = (step: string): boolean => !options.steps || options.steps.split(',').includes(step);

type Ledgers = (name: string, dist?: string) => Promise<Ledger>;

async function startTargets(context: TargetContext, ledgers: Ledgers) {
  const { upstreamPort } = context;
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
  const targets: RunningTarget[] = [
    {
      name: 'direct',
      target: { port: upstreamPort, keys: NO_KEY, headers: '' },
      pids: [],
      stop: () => Promise.resolve(),
    },
  ];
  const folder = options['cpu-prof'];
  const profiling = folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
  const flags = options.flags?.split(' ') ?? [];
  const edge = async (name: string, database: string, dist: string): Promise<void> => {
    const ledger = await ledgers(database, dist === DIST ? undefined : dist);
    await ledger.seal('sk-virtual-of-the-bench');
    const nodeOptions = name === 'edge' ? [...profiling, ...flags] : [];
    targets.push(await startEdge(context, { name, ledger, dist, upstreamUrl, nodeOptions }));
  };
  const node20 = options.peers ? fetchNode20(context) : 'not asked for';
  if (options.peers && typeof node20 === 'string') say(`peers on Node 20: ${node20}`);
  const runtimes = typeof node20 === 'string' ? [OWN_NODE] : [OWN_NODE, node20];
  if (wants('bare')) for (const runtime of runtimes) targets.push(await startBare(context, runtime));
  if (wants('edge')) await edge('edge', 'bench_edge', DIST);
  const edges = async (name: string, database: string, dist: string): Promise<void> => {
    const ledger = await ledgers(database, dist === DIST ? undefined : dist);
    await ledger.seal('sk-virtual-of-the-bench');
    const nodeOptions = name === 'two edges' ? [...profiling, ...flags] : [];
    targets.push(await startEdges(context, 2, { name, ledger, dist, upstreamUrl, nodeOptions }));
  };
  if (wants('edges')) await edges('two edges', 'bench_edges', DIST);
  if (options.before && wants('edges')) await edges('two edges before', 'bench_edges_before', options.before);
  if (options.before && wants('edge')) await edge('before', 'bench_before', options.before);
  const nginx = wants('nginx') ? await startNginx(context) : undefined;
  if (nginx) targets.push(nginx);
  else say('nginx: left out (not installed, or not asked for)');
  if (wants('chain')) {
    const ledger = await ledgers('bench_chain');
    targets.push(
      await startWholePath(context, { name: 'edge + router', ledger, dist: DIST, nodeOptions: profiling }),
    );
  }
  if (options.before && wants('chain')) {
    const ledger = await ledgers('bench_chain_before', options.before);
    targets.push(
      await startWholePath(context, { name: 'edge + router before', ledger, dist: options.before }),
    );
  }
  if (options.peers) targets.push(...(await startPortkeys(context, runtimes)));
  return { targets, node20 };
}

async function startPortkeys(context: TargetContext, runtimes: Runtime[]): Promise<RunningTarget[]> {
  const started: RunningTarget[] = [];
  try {
    const home = fetchPortkey(context);
    for (const runtime of runtimes) started.push(await startPortkey(context, home, runtime));
  } catch (error) {
    say(`Portkey${runtimes[started.length]!.suffix}: left out (${firstLine(error)})`);
  }
  return started;
}

async function measureAll(targets: RunningTarget[], generator: Generator, lengths: Lengths) {
  const all = targets.map((running) => new Measured(running, generator));
  const real = all.filter(({ running }) => running.pids.length > 0);
  if (does('memory')) for (const target of real) await target.memory(lengths.idleStreams);
  for (const target of real) await target.warm(lengths.warmMs);
  if (does('beside')) {
    for (const target of real) await target.besideIdle(lengths.idleStreams, lengths.saturateMs);
  }
  for (let round = 0; round < lengths.rounds; round++) {
    say(`round ${round + 1} of ${lengths.rounds}`);
    // Each step visits all targets before the next: whatever slows the machine down slows all of them.
    if (does('saturate')) for (const target of real) await target.saturate(lengths.saturateMs);
    if (does('paced')) for (const target of all) await target.paced(lengths.pacedMs);
    if (does('streams')) for (const target of real) await target.streams(lengths.streams);
    if (does('first-bytes')) for (const target of all) await target.firstBytes(lengths.firstBytesMs);
  }
  return new Map(all.map((measured) => [measured.running.name, measured]));
}

async function measureUsageWrite(ledger: Ledger, server: number, seconds: number) {
  const { rows } = await ledger.pool.query<{ pair: string }>(
    `select account_id || ':' || id as pair from api_keys`,
  );
  const pairs = rows.map(({ pair }) => pair).join(',');
  const child = startOwn('usage-write', [ledger.url, String(seconds), pairs]);
  type UsageReport = { warm?: true; micros: number; events: number };
  const report = (): Promise<UsageReport> =>
    new Promise((resolve, reject) => {
      child.process.once('message', (message) => resolve(message as UsageReport));
      child.process.once('exit', () => reject(new Error('the usage-write process ended early')));
    });
  const phase = async (): Promise<{ edgeMicros: number; postgresMicros: number }> => {
    const before = cpuMicros(family(server));
    const { micros, events } = await report();
    return { edgeMicros: micros, postgresMicros: (cpuMicros(family(server)) - before) / events };
  };
  await report();
  const batches = await phase();
  const ended = once(child.process, 'exit');
  const whole = await phase();
  // It removes what it has written.
  await ended;
  return { batches, whole };
}

/** By the ids of responses: a refused call has no row, and a broken one may have one. */
async function checkBooks(targets: Map<string, Measured>): Promise<Findings['books']> {
  const books: Findings['books'] = [];
  for (const { running, sent } of targets.values()) {
    if (!running.ledger) continue;
    const { ids: rows, exact } = await running.ledger.events();
    const lost = sent.ids.filter((id) => !rows.has(id));
    const invented = Math.max(0, rows.size - (sent.ids.length - lost.length) - sent.bad);
    const inexact = Math.abs(sent.ids.length - lost.length - exact - sent.cut);
    const violations = await running.ledger.violations();
    const answers = sent.ids.length;
    books.push({ name: running.name, rows: rows.size, answers, lost, invented, inexact, violations });
  }
  return books;
}

async function run(context: TargetContext, server: EmbeddedPostgres, lengths: Lengths): Promise<Findings> {
  const made: Ledger[] = [];
  const ledgers: Ledgers = async (name, dist) => {
    const ledger = await createLedger(server, name, dist);
    made.push(ledger);
    return ledger;
  };
  const generator = startGenerator();
  const { targets, node20 } = await startTargets(context, ledgers);
  try {
    say(`targets: ${targets.map(({ name }) => name).join(', ')}`);
    const measured = await measureAll(targets, generator, lengths);
    const edge = measured.get('edge')?.running;
    say('event to visible balance, usage write, analytics, two edges');
    const money = edge && wants('usage');
    const visibility = money ? await measureVisibility(edge, generator, lengths.rounds * 3_000) : undefined;
    const usageWrite = money ? await usageWriteAlone(ledgers, lengths) : undefined;
    const analytics = wants('analytics')
      ? await measureAnalytics(await ledgers('bench_analytics'))
      : undefined;
    const pair = wants('pair') ? await measurePair(context, ledgers, DIST, lengths) : 'not asked for';
    await Promise.all(targets.map((target) => target.stop()));
    if (visibility) measured.get('edge')!.took(visibility.calls);
    const books = await checkBooks(measured);
    return { targets: measured, usageWrite, visibility, analytics, books, pair, node20 };
  } finally {
    await generator.stop();
    await Promise.all(targets.map((target) => target.stop()));
    await Promise.all(made.map((ledger) => ledger.close()));
  }
}

async function usageWriteAlone(ledgers: Ledgers, lengths: Lengths) {
  const ledger = await ledgers('bench_usage');
  return measureUsageWrite(ledger, await postmaster(ledger), lengths.rounds * 2);
}

function document(machine: string, load: string, table: string, notes: string[]): string {
  return `# Benchmarks

\`npm run bench -- --peers --write\` wrote this file. Every target runs as a separate process on loopback, all in
one interleaved run: each step visits every target before the next step begins, and the medians of the rounds are
quoted, with the least and the most of a ratio's rounds in brackets. Trust CPU microseconds first, ratios second, requests per second last: on a shared machine the same target
moves by up to 25 % between runs. What each part of the edge costs, what has helped, and why some goals are missed:
[0042](decisions/0042-what-the-edge-costs.md), [0043](decisions/0043-the-edges-own-client.md),
[0044](decisions/0044-the-flush-is-one-function.md), [0191](decisions/0191-goals-of-speed-that-stay-missed.md).

- Machine: ${machine}.
- Load average of that machine at the end: ${load}. One run takes about 2.5 of it by itself; whatever is beyond that
  was other work, and figures in milliseconds say as much about that work as about the targets.
- edge: this product's edge process with everything on: key, balance, rate, daily cap, hold, spool with fsync, usage and
  ledger in the embedded PostgreSQL (fsync on), 300 accounts, each call with another's key. PostgreSQL's CPU is not included in its figures but listed separately.
- bare: node:http in front, undici.request behind, nothing else. nginx: one worker, no buffering, kept-alive upstream.
- Portkey: @portkey-ai/gateway 1.15.2 from npm, with @hono/node-server 1.12.2 since later ones answer 500 to streams.
- The goals were set with peers on Node 20, while the edge runs on its own Node, as it ships. So each goal against a peer
  in Node has two rows: the row "on Node 20" compares with that peer as the goals meant it, the row above with the
  same peer on the edge's own Node. The latter is the stricter comparison, since nothing in it is owed to the newer Node;
  where a peer does worse on that one, though, the row on Node 20 is the harder goal. bare on Node 20 has undici 7,
  since undici 8 doesn't load there.
- two edges: two edges on one port and their Redis, on all cores, which they share with the generator.
- edge + router: the same edge with its router, as it ships: the whole path of a call. Builds that routed in a process of their own: both
  processes are added.
- "added" is beyond the same call made straight to the mock upstream. Answers: 600 bytes; streams: 100 chunks, 10 ms apart.

${table}

${notes.map((note) => `- ${note}`).join('\n')}
`;
}

const began = Date.now();
if (options.only === 'idle') {
  await measureIdle(say, options.before);
  process.exit(0);
}
if (options.only === 'rows') {
  await measureRows(say, { now: DIST, ...(options.before && { before: options.before }) });
  process.exit(0);
}
const cores = takeCores();
const machine = machineLine(cores);
say(machine);
if (!existsSync(join(DIST, 'gateway', 'main.js'))) throw new Error('dist is not built: run npm run build');
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
chmodSync(folder, 0o755);
const server = await startEmbeddedPostgres({ directory: join(folder, 'postgres') });
const upstreamPort = await freePort();
const upstream = startOwn('upstream', [String(upstreamPort)]);
try {
  await delay(300);
  if (options.only === 'memory') {
    say(await measureMemory({ upstreamPort, cores: undefined, folder }, server, options.before ?? DIST));
  } else await measureSpeed();
} finally {
  await upstream.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
say(`bench: ${((Date.now() - began) / 1000).toFixed(0)} s`);
process.exit(0);

async function measureSpeed(): Promise<void> {
  const lengths = options.quick ? QUICK : FULL;
  const rounds = Number(options.rounds ?? lengths.rounds);
  const saturateMs = Number(options.window ?? lengths.saturateMs);
  const findings = await run({ upstreamPort, cores, folder }, server, { ...lengths, rounds, saturateMs });
  const { table, noisy } = renderTable(findings);
  const notes = renderNotes(findings, noisy);
  const load = (loadavg()[1] ?? 0).toFixed(1);
  say(`\n${table}\n\n${notes.join('\n')}`);
  if (options.write) writeFileSync(DOCUMENT, document(machine, load, table, notes));
}
