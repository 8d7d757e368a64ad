import { existsSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { patiently } from '../../../src/db/patience.js';
import { type WatchedStatement, watchPool } from '../../support/watched-pool.js';

/** What one statement cost the database. */
export interface Cost {
  text: string;
  /** Of its backend, in milliseconds, planning included. */
  cpuMs: number;
  /** Blocks of 8 kB that were read, in memory or not; 0 for a statement that can't be explained. */
  buffers: number;
  /** Returned or changed. */
  rows: number;
}

/** Longer than the product's limit: on a busy machine the costs count, not the time that passes. */
const PATIENCE_MS = 60_000;

/** Statements that only read: explaining one runs it once more without harm. */
const READS = /^\s*(?:select|with)\b/i;
const WRITES =
  /\b(?:insert\s+into|update|delete\s+from|pg_notify|pg_(?:try_)?advisory\w*|set_config|nextval|fire_alerts)\b/i;

/**
 * Records the statements of a pool. A reading one is first explained on the same connection, for its buffers; so its
 * processor time, of the run that follows, is with all data in memory.
 */
export class StatementLog {
  private costs: Cost[] = [];
  private open = 0;
  /** Server processes with that limit. */
  private readonly patient = new Set<number>();
  private whenQuiet: (() => void) | undefined;

  constructor(pool: pg.Pool) {
    watchPool(pool, (_text, ask, statement) => patiently(PATIENCE_MS, () => this.record(statement, ask)));
  }

  /** Runs `work`, and returns its statements once all of them have ended. */
  async during(work: () => Promise<void>): Promise<Cost[]> {
    this.costs = [];
    await work();
    if (this.open > 0) {
      await new Promise<void>((resolve) => {
        this.whenQuiet = resolve;
      });
    }
    this.whenQuiet = undefined;
    return this.costs;
  }

  private async record(
    statement: WatchedStatement,
    ask: () => Promise<pg.QueryResult>,
  ): Promise<pg.QueryResult> {
    const { text, pid } = statement;
    this.open++;
    try {
      if (!this.patient.has(pid)) {
        this.patient.add(pid);
        await statement.query(`set statement_timeout = ${PATIENCE_MS}`, []);
      }
      const buffers = await buffersOf(statement);
      const before = cpuMsOf(pid);
      const result = await ask();
      this.costs.push({ text, cpuMs: cpuMsOf(pid) - before, buffers, rows: result.rowCount ?? 0 });
      return result;
    } finally {
      this.open--;
      if (this.open === 0) this.whenQuiet?.();
    }
  }
}

async function buffersOf({ text, values, query }: WatchedStatement): Promise<number> {
  if (!READS.test(text) || WRITES.test(text)) return 0;
  const { rows } = await query(`explain (analyze, buffers, timing off, format json) ${text}`, values);
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Record<string, number> }];
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}

/** Only Linux counts it for each process in nanoseconds; elsewhere 0. */
const COUNTED = existsSync('/proc/self/schedstat');

/** The time that a process has spent on a processor. */
const cpuMsOf = (pid: number): number =>
  COUNTED ? Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6 : 0;
