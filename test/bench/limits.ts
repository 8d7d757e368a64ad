import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import type { AccountState } from '../../src/inference/limits/account-state.js';
import type { createLimits } from '../../src/inference/limits/create-limits.js';
import type { EdgeIdentity } from '../../src/inference/limits/edge-identity.js';
import type { Admission, Limits } from '../../src/inference/limits/limits.js';
import type { PeriodSpend } from '../../src/inference/limits/period-spend.js';
import type { Payer } from '../../src/inference/payer.js';
import { systemClock } from '../../src/lib/clock.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { DOLLAR } from '../../src/lib/money.js';
import type { FlushResult, UsageRecord } from '../../src/metering/usage-record.js';
import { freePort } from '../support/free-port.js';
import { bodyOf, TestCaller } from '../support/limits.js';
import { median } from './measure.js';
import { start } from './processes.js';

/**
 * `node build/test/bench/limits.js <dist> [<dist of another build>]`: what the limits of a call cost an edge and Redis, without
 * HTTP and database. Each build takes its turn in every round, once over Redis and once without: the difference is what Redis
 * costs the edge. As many callers as in the benchmark of whole calls ask one call after the other, which keeps the edge busy for
 * about as long as a whole one, lasts 2 ms and is committed within 50 ms. CPU times only.
 */
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS_EACH ?? 2);
const CALLERS = 64;
/** The edge's other work on a call, in two parts: before the admission and at the settlement. */
const WORK_MS = 0.04;
const LASTS_MS = 2;
const FLUSH_MS = 50;
const LOADS = [
  { keys: 1, capped: false },
  { keys: 20, capped: false },
  { keys: 500, capped: false },
  { keys: 500, capped: true },
];
const COST = 1_000_000n;
const TIMEOUTS = { redisMs: 5_000, queueMs: 5_000 };
const MODEL = { publicName: 'm', kind: 'chat', contextWindow: 1_000, priceIn: 1_000n, priceOut: 0n } as const;

interface Build {
  createLimits: typeof createLimits;
  AccountState: typeof AccountState;
  PeriodSpend: typeof PeriodSpend;
  EdgeIdentity: typeof EdgeIdentity;
}

async function load(dist: string): Promise<Build> {
  const of = (name: string) => import(pathToFileURL(join(resolve(dist), 'inference/limits', name)).href);
  const [limits, accounts, identity] = await Promise.all(
    ['create-limits.js', 'account-state.js', 'edge-identity.js'].map(of),
  );
  // Builds before 1.1.0 have it in account-state.js, as `DayState`.
  const periods = await of('period-spend.js').catch(() => ({ PeriodSpend: accounts.DayState }));
  return { ...limits, ...accounts, ...periods, ...identity } as Build;
}

interface Subject {
  limits: Limits;
  payers: Payer[];
  /** Calls that ended and are not committed. */
  ended: { payer: Payer; at: number }[];
}

async function subject(
  build: Build,
  load: (typeof LOADS)[number],
  redisUrl: string | null,
): Promise<Subject> {
  const payers = Array.from({ length: load.keys }, (): Payer => {
    const account = new build.AccountState(newId(), 1_000n * DOLLAR, 1n, 1_000_000);
    return {
      credential: { kind: 'api_key', id: newId() },
      hash: 'h',
      account,
      allowedModels: new Set(['m']),
      authorization: 'Bearer x',
      dailyLimit: load.capped ? 900n * DOLLAR : null,
      day: new build.PeriodSpend(),
    };
  });
  const cache = {
    renew: async () => undefined,
    flushed: ({ own, accounts }: FlushResult) => {
      const byId = new Map(payers.map((payer) => [payer.account.id, payer]));
      for (const { accountId, cost, createdAt } of own) {
        byId.get(accountId)!.account.pending -= cost;
        byId.get(accountId)!.day.settled(cost, createdAt);
      }
      for (const { id, balance, seq } of accounts) byId.get(id)!.account.committed(balance, seq);
    },
  };
  const limits = await build.createLimits({
    config: { redisUrl, upstreamTimeoutMs: 60_000, upstreamIdleMs: 0 },
    cache: cache as never,
    catalog: {
      get: () => MODEL,
      all: () => [MODEL],
      names: new Set<string>(),
      reload: async () => undefined,
      stop: () => undefined,
    },
    routes: { fallbacksOf: () => [], version: () => 0 },
    clock: systemClock,
    log: createLogger('edge', 'silent'),
    registry: new Registry(),
    identity: new build.EdgeIdentity(),
    mayAdmit: () => true,
    timeouts: TIMEOUTS,
    // What builds before 1.1.0 call them.
    ...{ patience: TIMEOUTS },
  });
  return { limits, payers, ended: [] };
}

function commit({ limits, ended }: Subject): void {
  const own = ended.splice(0);
  if (own.length === 0) return;
  const accounts = [...new Set(own.map(({ payer }) => payer))].map(({ account }) => ({
    id: account.id,
    balance: account.balance - COST,
    seq: account.seq + 1n,
  }));
  const records = own.map(({ payer: { account, credential }, at }) => ({
    ...{ accountId: account.id, keyId: credential.id, widgetId: null, cost: COST, createdAt: at },
  }));
  limits.flushed({ own: records as unknown as UsageRecord[], accounts, keyDays: [], alerted: [] });
}

function work(): void {
  for (const end = performance.now() + WORK_MS; performance.now() < end; );
}

/** CPU microseconds of this process for each call. */
async function drive(under: Subject, seconds: number): Promise<{ cpu: number; calls: number }> {
  const { limits, payers, ended } = under;
  const body = bodyOf(40);
  const flusher = setInterval(() => commit(under), FLUSH_MS);
  const end = performance.now() + seconds * 1_000;
  const before = process.cpuUsage();
  let calls = 0;
  async function caller(): Promise<void> {
    while (performance.now() < end) {
      // A separate turn, as for a request.
      await new Promise(setImmediate);
      work();
      const payer = payers[Math.floor(Math.random() * payers.length)]!;
      const admission: Admission = await limits.admit(payer, body, new TestCaller(), 'chat');
      await pause(LASTS_MS);
      work();
      const at = systemClock.now();
      limits.settle(admission, COST, at);
      ended.push({ payer, at });
      calls++;
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller));
  clearInterval(flusher);
  commit(under);
  await pause(20);
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / calls, calls };
}

const sumOf = (text: string, pattern: RegExp): number =>
  [...text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);

/** CPU microseconds of Redis so far, and its scripts. */
async function redisUsed(redis: Redis): Promise<{ cpu: number; scripts: number }> {
  const [cpu, commands] = await Promise.all([redis.info('cpu'), redis.info('commandstats')]);
  const seconds = sumOf(cpu, /used_cpu_(?:sys|user):([\d.]+)/g);
  return { cpu: seconds * 1e6, scripts: sumOf(commands, /cmdstat_eval(?:sha)?:calls=(\d+)/g) };
}

const dists = process.argv.slice(2);
if (dists.length === 0) throw new Error('name the folder of at least one build');
const port = await freePort();
const server = start('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '']);
const redis = new Redis({ port, host: '127.0.0.1' });
redis.on('error', () => undefined);
await redis.ping();
const builds = await Promise.all(dists.map(async (dist) => ({ dist, build: await load(dist) })));
for (const each of LOADS) {
  const name = `${each.keys} keys${each.capped ? ' with caps' : ''}`;
  const figures = builds.map(() => ({
    redis: [] as number[],
    scripts: [] as number[],
    edge: [] as number[],
  }));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, { build }] of builds.entries()) {
      await redis.flushall();
      const shared = await subject(build, each, `redis://127.0.0.1:${port}`);
      const before = await redisUsed(redis);
      const over = await drive(shared, SECONDS);
      const after = await redisUsed(redis);
      await shared.limits.stop();
      const alone = await subject(build, each, null);
      const without = await drive(alone, SECONDS);
      await alone.limits.stop();
      // The first round warms up.
      if (round === 0) continue;
      figures[i]!.redis.push((after.cpu - before.cpu) / over.calls);
      figures[i]!.scripts.push((after.scripts - before.scripts) / over.calls);
      figures[i]!.edge.push(over.cpu - without.cpu);
    }
  }
  for (const [i, { dist }] of builds.entries()) {
    const { redis: ofRedis, scripts, edge } = figures[i]!;
    const costs = `Redis ${median(ofRedis).toFixed(1)} µs, edge ${median(edge).toFixed(1)} µs more`;
    process.stdout.write(`${name}: ${costs}, ${median(scripts).toFixed(2)} scripts a call: ${dist}\n`);
  }
}
redis.disconnect();
await server.stop();
