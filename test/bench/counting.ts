import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Registry } from 'prom-client';
import type { AccountState, DayState } from '../../src/inference/limits/account-state.js';
import type { Admission, Counters } from '../../src/inference/limits/limits.js';
import type { localCounters } from '../../src/inference/limits/local-counters.js';
import type { CounterHub } from '../../src/inference/limits/machine/counter-hub.js';
import type { CounterLink } from '../../src/inference/limits/machine/counter-link.js';
import type { MachineCounters } from '../../src/inference/limits/machine/machine-counters.js';
import type { Payer } from '../../src/inference/payer.js';
import type { Clock } from '../../src/lib/clock.js';
import type { Logger } from '../../src/lib/logger.js';

/**
 * `node build/test/bench/counting.js <dist> [<dist of another build>]`: microseconds of CPU per call that two edges of a
 * machine and the process that counts for them spend on the limits, without HTTP and database. Builds take turns.
 * `alone` is an edge that counts for itself, so that what it takes beyond that is what sharing costs.
 */
const ROUNDS = 3;
const ACCOUNTS = 32;
const PER_TURN = [1, 4];
const WARM_MS = 2_000;
const MEASURE_MS = 4_000;
const CALL_MS = 3;
const FLUSH_MS = 50;
const COUNTER_FD = 4;
const BALANCE = 10n ** 17n;
const HOLD = 10n ** 10n;
const COST = 10n ** 8n;

interface Told {
  calls: number;
  micros: number;
}

const micros = ({ user, system }: NodeJS.CpuUsage): number => user + system;

async function load<Module>(dist: string, path: string): Promise<Module> {
  return import(pathToFileURL(join(resolve(dist), `${path}.js`)).href);
}

async function countersOf(dist: string, isAlone: boolean, clock: Clock): Promise<Counters> {
  if (isAlone) {
    const local = await load<{ localCounters: typeof localCounters }>(
      dist,
      'inference/limits/local-counters',
    );
    return local.localCounters(clock, () => true);
  }
  const folder = 'inference/limits/machine';
  const links = await load<{ CounterLink: typeof CounterLink }>(dist, `${folder}/counter-link`);
  const link = new links.CounterLink(new Socket({ fd: COUNTER_FD, readable: true, writable: true }));
  await link.ready;
  const machine = await load<{ MachineCounters: typeof MachineCounters }>(dist, `${folder}/machine-counters`);
  const identity = { id: String(process.pid), onReplaced: () => undefined, replaced: () => undefined };
  return new machine.MachineCounters({ link, identity: identity as never, clock, registry: new Registry() });
}

/** An edge: admits, settles and commits at a steady rate. */
async function edge(dist: string, perTurn: number, isAlone: boolean): Promise<void> {
  const { systemClock } = await load<{ systemClock: Clock }>(dist, 'lib/clock');
  const states = await load<{ AccountState: typeof AccountState; DayState: typeof DayState }>(
    dist,
    'inference/limits/account-state',
  );
  const counters = await countersOf(dist, isAlone, systemClock);
  const payers = Array.from({ length: ACCOUNTS }, (_, nth) => ({
    credential: { kind: 'api_key', id: `key-${process.pid}-${nth}` },
    account: new states.AccountState(`account-${process.pid}-${nth}`, BALANCE, 1n, 20_000),
    day: new states.DayState(),
    dailyLimit: BALANCE,
  })) as unknown as Payer[];
  let calls = 0;
  let turn = 0;
  let charged: { payer: Payer; at: number }[] = [];
  const settle = ({ payer }: Admission): void => {
    const at = systemClock.now();
    for (const state of [payer.account, payer.day]) {
      state.holds -= HOLD;
      state.charge(COST, at);
    }
    counters.changed(payer, -HOLD, COST, at);
    charged.push({ payer, at });
    calls++;
  };
  const later = (taken: unknown): void => void setTimeout(() => settle(taken as Admission), CALL_MS);
  setInterval(() => {
    for (let nth = 0; nth < perTurn; nth++) {
      const payer = payers[turn++ % ACCOUNTS]!;
      const taken = counters.take({ payer, hold: HOLD, held: false, rate: undefined } as Admission);
      if (taken instanceof Promise) void taken.then(later);
      else later(taken);
    }
  }, 1);
  setInterval(() => {
    const own = charged.map(({ payer: { account, day, credential }, at: createdAt }) => {
      account.pending -= COST;
      day.settled(COST, createdAt);
      return { keyId: credential.id, widgetId: null, cost: COST, createdAt };
    });
    charged = [];
    counters.committed({ own, accounts: [], keyDays: [], alerted: [] } as never);
  }, FLUSH_MS);
  await delay(WARM_MS);
  process.send?.('warm');
  calls = 0;
  const before = process.cpuUsage();
  await delay(MEASURE_MS);
  process.send?.({ calls, micros: micros(process.cpuUsage(before)) } satisfies Told);
}

/** The process that counts, and its two edges. */
async function measure(dist: string, perTurn: number, isAlone: boolean): Promise<string> {
  const { systemClock } = await load<{ systemClock: Clock }>(dist, 'lib/clock');
  const hubs = await load<{ CounterHub: typeof CounterHub }>(dist, 'inference/limits/machine/counter-hub');
  const hub = new hubs.CounterHub(systemClock, { warn: () => undefined } as unknown as Logger);
  const args = [fileURLToPath(import.meta.url), dist, String(perTurn), isAlone ? 'alone' : 'edge'];
  const edges = [0, 1].map(() =>
    spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] }),
  );
  if (!isAlone) for (const child of edges) hub.join(child.stdio[COUNTER_FD] as unknown as Duplex);
  const message = async (child: ChildProcess): Promise<Told> => (await once(child, 'message'))[0];
  await Promise.all(edges.map(message));
  const before = process.cpuUsage();
  const told = await Promise.all(edges.map(message));
  const counted = micros(process.cpuUsage(before));
  for (const child of edges) {
    child.kill();
    await once(child, 'exit');
  }
  hub.stop();
  const sum = (pick: (one: Told) => number): number => told.reduce((total, one) => total + pick(one), 0);
  const calls = sum((one) => one.calls);
  const [own, counting] = [sum((one) => one.micros) / calls, counted / calls];
  return isAlone ? `${own.toFixed(1)}` : `${own.toFixed(1)} + ${counting.toFixed(1)}`;
}

const [dist = 'dist', second, role] = process.argv.slice(2);
if (role === 'alone' || role === 'edge') await edge(dist, Number(second), role === 'alone');
else {
  for (let round = 1; round <= ROUNDS; round++) {
    for (const perTurn of PER_TURN) {
      const figures = [`alone ${await measure(dist, perTurn, true)}`];
      for (const build of [dist, second].filter((one) => one !== undefined))
        figures.push(`${build} ${await measure(build, perTurn, false)}`);
      process.stdout.write(`round ${round}, calls per turn ${perTurn}: ${figures.join(', ')}\n`);
    }
  }
}
