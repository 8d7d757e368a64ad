import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { advisoryLocks } from '../../db/locks.js';
import { PlaygroundStart } from '../../entities/playground/playground-start.js';
import { utcDay } from '../../lib/clock.js';
import { KEPT_SESSIONS, MINUTE_MS, type Taken } from './playground.rules.js';

/** Lets one start of an account at a time past, until the transaction ends: what it counts stays true. */
export async function lockStarts(em: EntityManager, accountId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.playgroundStarts}, hashtext(${accountId}))`.execute(
    em.getKysely(),
  );
}

/** The sealed data key of an account that can't be deleted before the transaction ends; undefined: it is deleted. */
export async function lockDataKey(em: EntityManager, accountId: string): Promise<string | undefined> {
  const { rows } = await sql<{ sealed: string | null }>`
    select data_key_sealed as sealed from accounts where id = ${accountId} and deleted_at is null
    for key share`.execute(em.getKysely());
  return rows[0]?.sealed ?? undefined;
}

/** What an account has taken of its bounds. Forgets starts that no bound counts any more. */
export async function takenBy(em: EntityManager, accountId: string, now: number): Promise<Taken> {
  await em.nativeDelete(PlaygroundStart, { accountId, startedAt: { $lte: new Date(now - MINUTE_MS) } });
  const { rows } = await sql<{
    runs_in_minute: number;
    oldest_ms: number | null;
    runs_today: number;
    tokens_today: string;
    unfinished: number;
  }>`
    select coalesce(sum(runs), 0)::int as runs_in_minute, (extract(epoch from min(started_at)) * 1000)::float8 as oldest_ms,
      coalesce((select d.runs from playground_days d where d.account_id = ${accountId} and d.day = ${utcDay(now)}), 0)
        as runs_today,
      coalesce((select d.output_tokens from playground_days d
        where d.account_id = ${accountId} and d.day = ${utcDay(now)}), 0)::text as tokens_today,
      (select count(*)::int from playground_runs r join playground_sessions s on s.id = r.session_id
        where s.account_id = ${accountId} and r.status in ('pending', 'running')) as unfinished
    from playground_starts where account_id = ${accountId}`.execute(em.getKysely());
  const row = rows[0]!;
  return {
    runsInMinute: row.runs_in_minute,
    oldestStartMs: row.oldest_ms ?? undefined,
    runsToday: row.runs_today,
    tokensToday: Number(row.tokens_today),
    unfinishedRuns: row.unfinished,
  };
}

/** Takes what a session that starts may use, and forgets days that no bound counts any more. */
export async function take(
  em: EntityManager,
  start: { sessionId: string; accountId: string; runs: number; maxTokens: number; now: number },
): Promise<void> {
  const { sessionId, accountId, runs, maxTokens, now } = start;
  const day = utcDay(now);
  await em.insert(PlaygroundStart, { sessionId, accountId, startedAt: new Date(now), runs });
  await sql`
    insert into playground_days as d (account_id, day, runs, output_tokens)
    values (${accountId}, ${day}, ${runs}, ${runs * maxTokens})
    on conflict (account_id, day) do update
    set runs = d.runs + excluded.runs, output_tokens = d.output_tokens + excluded.output_tokens`.execute(
    em.getKysely(),
  );
  // Yesterday's is kept: runs that began then may still end.
  await sql`delete from playground_days where account_id = ${accountId} and day < ${day}::date - 1`.execute(
    em.getKysely(),
  );
}

/** Puts what a run has generated in the place of what it might have. */
export async function settleTokens(
  em: EntityManager,
  run: { accountId: string; day: string; maxTokens: number; outputTokens: number },
): Promise<void> {
  await sql`
    update playground_days set output_tokens = greatest(0, output_tokens - ${run.maxTokens} + ${run.outputTokens})
    where account_id = ${run.accountId} and day = ${run.day}`.execute(em.getKysely());
}

/** Deletes what is older than the history that is kept, unless it is shared or under way. */
export async function dropOldSessions(em: EntityManager, accountId: string): Promise<void> {
  await sql`
    delete from playground_sessions s where s.account_id = ${accountId} and not s.shared
      and (s.created_at, s.id) < (select o.created_at, o.id from playground_sessions o
        where o.account_id = ${accountId} order by o.created_at desc, o.id desc
        offset ${KEPT_SESSIONS - 1} limit 1)
      and not exists (select from playground_runs r
        where r.session_id = s.id and r.status in ('pending', 'running'))`.execute(em.getKysely());
}

/** Deletes the counts of an account that is deleted. */
export async function forgetBounds(em: EntityManager, accountId: string): Promise<void> {
  await sql`delete from playground_days where account_id = ${accountId}`.execute(em.getKysely());
  await em.nativeDelete(PlaygroundStart, { accountId });
}
