import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedPostgres } from '../../src/db/embedded.js';
import { descendantsOf } from '../support/process-tree.js';
import { createLedger, postmaster } from './ledger.js';
import { startGenerator } from './measure.js';
import { type RunningTarget, startProduct, type TargetContext } from './targets.js';

const CALLS = 10_000;
const CALLS_PER_SECOND = 100;
const PARTS = 5;
/** A process becomes idle within two intervals of src/lib/collect-when-idle.ts. */
const REST_MS = 20_000;
const GOALS = { idle: 330, after: 450 };

/** Megabytes of a process: pages that others share are counted by their share. */
function megabytesOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) / 1024;
  } catch {
    // A backend that has just ended.
    return 0;
  }
}

/** Its program: the launcher, edge, platform or jobs; PostgreSQL's processes are one. */
function nameOf(pid: number): string {
  const [program = '', file = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  if (basename(program) !== basename(process.execPath)) return 'PostgreSQL';
  return file.endsWith('start.js') ? 'launcher' : basename(file.slice(0, file.lastIndexOf('/')));
}

function measure(server: number, product: RunningTarget): Map<string, number> {
  const sums = new Map<string, number>();
  const pids = [...product.pids, server, ...descendantsOf(server)];
  for (const pid of pids) {
    const megabytes = megabytesOf(pid);
    if (megabytes > 0) sums.set(nameOf(pid), (sums.get(nameOf(pid)) ?? 0) + megabytes);
  }
  return sums.set(
    'all',
    [...sums.values()].reduce((sum, one) => sum + one, 0),
  );
}

/** Memory of all processes of the product, PostgreSQL too, idle and after 10,000 calls: a table. */
export async function measureMemory(context: TargetContext, server: EmbeddedPostgres, dist: string) {
  const ledger = await createLedger(server, 'bench_memory');
  const database = await postmaster(ledger);
  const generator = startGenerator();
  const product = await startProduct(context, { name: 'product', ledger, dist });
  try {
    await delay(REST_MS);
    const idle = measure(database, product);
    const { target } = product;
    const ms = (CALLS / PARTS / CALLS_PER_SECOND) * 1000;
    let answers = 0;
    for (let part = 0; part < PARTS; part++) {
      const result = await generator.run({ kind: 'paced', target, perSecond: CALLS_PER_SECOND, ms });
      answers += result.answers;
      if (result.bad > 0) throw new Error(`${result.bad} calls failed: ${result.failures[0]}`);
    }
    const busy = measure(database, product);
    await delay(REST_MS);
    const after = measure(database, product);
    const rows = [...idle].map(([name, megabytes]) =>
      [name, ...[megabytes, busy.get(name) ?? 0, after.get(name) ?? 0].map(Math.round)].join(' | '),
    );
    return [
      `MB (PSS) | idle (goal ${GOALS.idle}) | after ${answers} calls (goal ${GOALS.after}) | ${REST_MS / 1000} s later`,
      ...rows,
    ].join('\n');
  } finally {
    await generator.stop();
    await product.stop();
    await ledger.close();
  }
}
