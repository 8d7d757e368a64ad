import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { formatTimestamp } from '../../lib/clock.js';
import type { JobOutput } from './admin.outputs.js';

interface JobRow {
  name: string;
  every: string | null;
  locked_at: Date | null;
  last_run_at: Date | null;
  last_finished_at: Date | null;
  next_run_at: Date | null;
  fail_count: number | null;
  failed_at: Date | null;
  fail_reason: string | null;
}

const shown = (time: Date | string | null): string | null => time && formatTimestamp(new Date(time));

/** The scheduled jobs. Agenda keeps them in a table of its own, which a jobs process creates at its first start. */
export async function listJobs(em: EntityManager): Promise<JobOutput[]> {
  const db = em.getKysely();
  const { rows: found } = await sql<{ there: boolean }>`
    select to_regclass('public.agenda_jobs') is not null as there`.execute(db);
  if (!found[0]?.there) return [];
  const { rows } = await sql<JobRow>`
    select name, repeat_interval as every, locked_at, last_run_at, last_finished_at, next_run_at, fail_count, failed_at,
      fail_reason
    from agenda_jobs order by name`.execute(db);
  return rows.map((row) => ({
    name: row.name,
    every: row.every,
    running: row.locked_at !== null,
    last_run_at: shown(row.last_run_at),
    last_finished_at: shown(row.last_finished_at),
    next_run_at: shown(row.next_run_at),
    failures: row.fail_count ?? 0,
    failed_at: shown(row.failed_at),
    failure_reason: row.fail_reason,
  }));
}
