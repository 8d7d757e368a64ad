import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { PlaygroundRun, type RunStatus } from '../../entities/playground/playground-run.js';
import type { TokenCounts } from '../../inference/usage/usage.js';
import { settleTokens } from './bounds.store.js';

/**
 * How long a run counts as under way after its process was last heard of, by the database's clock. Five beats: a process
 * that is slow, or waits for a database that starts again, loses none.
 */
export const LEASE_SECONDS = 15;

/** Told of runs whose process is gone. */
export const ABANDONED = {
  code: 'service_unavailable',
  message: 'The process that made this run ended. Run it again.',
} as const;

/** The instant up to which runs that begin now count as under way. */
export async function firstLease(em: EntityManager): Promise<Date> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(em.getKysely());
  return new Date(rows[0]!.ms + LEASE_SECONDS * 1000);
}

/** Notes that a run's turn has come. */
export async function beginRun(em: EntityManager, id: string): Promise<void> {
  await em.nativeUpdate(PlaygroundRun, { id, status: 'pending' }, { status: 'running' });
}

/**
 * Says that the runs are still under way.
 * @returns those that still are, and whether somebody wants them cancelled. What isn't among them was deleted or given up.
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

/** Ends runs whose process is gone. What they might have generated stays counted. Gives their number. */
export async function endAbandoned(em: EntityManager): Promise<number> {
  const { numAffectedRows } = await sql`
    update playground_runs set status = 'error', error_code = ${ABANDONED.code}, error_message = ${ABANDONED.message}
    where status in ('pending', 'running') and alive_until < clock_timestamp()`.execute(em.getKysely());
  return Number(numAffectedRows ?? 0);
}

/** How a run ended. */
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
 * Writes how a run ended, once, unless it was deleted or given up before. May be repeated when the connection broke: what was
 * committed then is found.
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
