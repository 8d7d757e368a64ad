import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { PlaygroundRun, type RunStatus } from '../../entities/playground/playground-run.js';
import type { TokenCounts } from '../../inference/usage/usage.js';
import { settleTokens } from './bounds.store.js';

/**
 * Lease of a run after the last renewal by its process, by the database's clock. Five renewals long, so that a slow
 * process, or one that waits for a restarting database, loses no run.
 */
export const LEASE_SECONDS = 15;

/** Error of runs whose process is gone. */
export const ABANDONED = {
  code: 'service_unavailable',
  message: 'The process that made this run ended. Run it again.',
} as const;

/** End of the lease of runs that start now. */
export async function firstLease(em: EntityManager): Promise<Date> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(em.getKysely());
  return new Date(rows[0]!.ms + LEASE_SECONDS * 1000);
}

/** Records that a run has started. */
export async function beginRun(em: EntityManager, id: string): Promise<void> {
  await em.nativeUpdate(PlaygroundRun, { id, status: 'pending' }, { status: 'running' });
}

/**
 * Renews the leases of runs.
 * @returns the runs that still exist, and whether they were cancelled. Missing ones were deleted or given up.
 */
export async function renewLeases(
  em: EntityManager,
  ids: readonly string[],
): Promise<{ id: string; cancel_requested: boolean }[]> {
  const { rows } = await sql<{ id: string; cancel_requested: boolean }>`
    update playground_runs set alive_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(${ids}::uuid[]) and status in ('pending', 'running') returning id, cancel_requested`.execute(
    em.getKysely(),
  );
  return rows;
}

/** Ends runs whose process is gone, and returns their number. The tokens reserved for them stay counted. */
export async function endAbandoned(em: EntityManager): Promise<number> {
  const { numAffectedRows } = await sql`
    update playground_runs set status = 'error', error_code = ${ABANDONED.code}, error_message = ${ABANDONED.message}
    where status in ('pending', 'running') and alive_until < clock_timestamp()`.execute(em.getKysely());
  return Number(numAffectedRows ?? 0);
}

/** The outcome of a run. */
export interface RunEnd {
  status: Exclude<RunStatus, 'pending' | 'running'>;
  servedModel: string | null;
  responseSealed: string | null;
  finishReason: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  latencyMs: number | null;
  ttftMs: number | null;
  inputTokens: number;
  outputTokens: number;
  listCostUsd: string;
}

/**
 * Records the outcome of a run once, unless the run was deleted or given up before. May be repeated after a broken
 * connection: it finds an outcome that was committed.
 */
export async function endRun(
  em: EntityManager,
  run: { id: string } & Parameters<typeof settleTokens>[1],
  end: RunEnd,
  used: TokenCounts,
): Promise<'written' | 'deleted' | 'given up'> {
  return em.transactional(async (inside) => {
    const { id } = run;
    const wanted = { id, status: { $in: ['pending' as const, 'running' as const] } };
    if ((await inside.nativeUpdate(PlaygroundRun, wanted, { ...end })) === 0) {
      const found = await inside.findOne(PlaygroundRun, { id }, { ...UNTRACKED, fields: END_FIELDS });
      if (!found) return 'deleted';
      return sayTheSame(found, end) ? 'written' : 'given up';
    }
    await settleTokens(inside, run, used);
    return 'written';
  });
}

const END_FIELDS = ['status', 'errorCode', 'errorMessage'] as const;

const sayTheSame = (run: Pick<PlaygroundRun, (typeof END_FIELDS)[number]>, end: RunEnd): boolean =>
  run.status === end.status &&
  (run.errorCode ?? null) === end.errorCode &&
  (run.errorMessage ?? null) === end.errorMessage;
