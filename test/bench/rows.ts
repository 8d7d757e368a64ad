import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/db/embedded.js';
import { newId } from '../../src/lib/ids.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createLedger, type Ledger } from './ledger.js';
import { cpuMicros } from './machine.js';
import { recordOf } from './usage-record.js';

const ROUNDS = 5;
/** Batches of one round by their size: what a busy edge writes, and a call alone. */
const SHAPES = [
  { size: 100, batches: 300 },
  { size: 1, batches: 1_000 },
];

interface Target {
  name: string;
  ledger: Ledger;
  /** One connection, so that one process of the server does all work. */
  pool: pg.Pool;
  pid: number;
  payers: { account_id: string; id: string }[];
  flush(pool: pg.Pool, records: readonly UsageRecord[]): Promise<unknown>;
  diskBefore: number;
  results: { size: number; micros: number; walBytes: number; elapsedMs: number }[];
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

const numberOf = async (pool: pg.Pool, expression: string): Promise<number> =>
  (await pool.query<{ value: number }>(`select (${expression})::float8 as value`)).rows[0]!.value;

const written = (pool: pg.Pool) => numberOf(pool, `pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')`);
const stored = (pool: pg.Pool) => numberOf(pool, 'pg_database_size(current_database())');

async function round(target: Target, { size, batches }: (typeof SHAPES)[number]): Promise<void> {
  const { pool, pid, payers } = target;
  let turn = 0;
  const work = Array.from({ length: batches }, () =>
    Array.from({ length: size }, () => {
      const payer = payers[turn++ % payers.length]!;
      return recordOf(newId(), payer.account_id, payer.id);
    }),
  );
  const walBefore = await written(pool);
  const [cpuBefore, began] = [cpuMicros([pid]), performance.now()];
  for (const records of work) await target.flush(pool, records);
  const events = size * batches;
  target.results.push({
    size,
    micros: (cpuMicros([pid]) - cpuBefore) / events,
    elapsedMs: (performance.now() - began) / batches,
    walBytes: ((await written(pool)) - walBefore) / events,
  });
}

/**
 * What a call costs PostgreSQL: CPU, WAL and disk, in batches of 100 and alone, of this build and of another in turns. Without
 * full pages in the WAL, which depend on the time since a checkpoint.
 */
export async function measureRows(say: (text: string) => void, dists: Record<string, string>): Promise<void> {
  const folder = mkdtempSync('/dev/shm/gateway-bench-');
  const server = await startEmbeddedPostgres({ directory: join(folder, 'postgres'), disposable: true });
  const targets: Target[] = [];
  try {
    for (const [name, dist] of Object.entries(dists)) {
      const ledger = await createLedger(server, `bench_rows_${targets.length}`, dist);
      const pool = new pg.Pool({ connectionString: ledger.url, max: 1, idleTimeoutMillis: 0 });
      // The server ends it when it stops.
      pool.on('error', () => undefined);
      const { flushBatch } = await import(
        pathToFileURL(join(resolve(dist), 'metering', 'flush.store.js')).href
      );
      const { rows: payers } = await pool.query<Target['payers'][number]>(
        'select account_id, id from api_keys',
      );
      const pid = await numberOf(pool, 'pg_backend_pid()');
      targets.push({
        ...{ name, ledger, pool, pid, payers, flush: flushBatch },
        ...{ diskBefore: 0, results: [] },
      });
    }
    // A round to warm up, which also creates the rows of days and hours.
    for (const target of targets) {
      for (const shape of SHAPES) await round(target, shape);
      target.results = [];
      target.diskBefore = await stored(target.pool);
    }
    for (let i = 0; i < ROUNDS; i++) for (const target of targets) await round(target, SHAPES[0]!);
    const sizes = new Map<Target, number>();
    for (const target of targets) sizes.set(target, await stored(target.pool));
    for (let i = 0; i < ROUNDS; i++) for (const target of targets) await round(target, SHAPES[1]!);
    for (const target of targets) {
      const disk = (sizes.get(target)! - target.diskBefore) / (ROUNDS * SHAPES[0]!.size * SHAPES[0]!.batches);
      for (const { size } of SHAPES) {
        const of = (key: 'micros' | 'walBytes' | 'elapsedMs') =>
          median(target.results.filter((one) => one.size === size).map((one) => one[key]));
        say(
          `${target.name}, batches of ${size}: ${of('micros').toFixed(1)} µs of PostgreSQL's CPU, ` +
            `${of('walBytes').toFixed(0)} B of WAL${size > 1 ? `, ${disk.toFixed(0)} B of disk` : ''} a call; ` +
            `${of('elapsedMs').toFixed(2)} ms a flush`,
        );
      }
    }
  } finally {
    for (const { pool, ledger } of targets) {
      await pool.end();
      await ledger.close();
    }
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
