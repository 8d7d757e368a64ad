import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { advisoryLocks } from '../../db/locks.js';
import { PlaygroundStart } from '../../entities/playground/playground-start.js';
import type { TokenCounts } from '../../inference/usage/usage.js';
import { MINUTE_MS, utcDay } from '../../lib/clock.js';
import { KEPT_SESSIONS, type RequestedRuns, type Taken } from './playground.rules.js';

/** Serializes an account's starts until the transaction ends, so that its counts stay true. */
export async function lockStarts(em: EntityManager, accountId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.playgroundStarts}, hashtext(${accountId}))`.execute(
    em.getKysely(),
  );
}

/**
 * Locks an account against deletion until the transaction ends, and returns its sealed data key. Null if an operator
 * has dropped a lost key; undefined if the account is deleted.
 */
export async function lockDataKey(em: EntityManager, accountId: string): Promise<string | null | undefined> {
  const { rows } = await sql<{ sealed: string | null }>`
    select data_key_sealed as sealed from accounts where id = ${accountId} and deleted_at is null
    for key share`.execute(em.getKysely());
  return rows[0]?.sealed;
}

/** What an account has used of its limits. Ignores starts that no limit counts any more. */
export async function takenBy(em: EntityManager, accountId: string, now: number): Promise<Taken> {
  await em.nativeDelete(PlaygroundStart, { accountId, startedAt: { $lte: new Date(now - MINUTE_MS) } });
  const { rows } = await sql<{
    runs_in_minute: number;
    oldest_ms: number | null;
    runs_today: number | null;
    output_tokens_today: string | null;
    input_tokens_today: string | null;
    unfinished: number;
  }>`
    select s.runs_in_minute, s.oldest_ms, d.runs as runs_today, d.output_tokens::text as output_tokens_today,
      d.input_tokens::text as input_tokens_today,
      (select count(*)::int from playground_runs r join playground_sessions s on s.id = r.session_id
        where s.account_id = ${accountId} and r.status in ('pending', 'running')) as unfinished
    from (select coalesce(sum(runs), 0)::int as runs_in_minute,
        (extract(epoch from min(started_at)) * 1000)::float8 as oldest_ms
        from playground_starts where account_id = ${accountId}) s
      left join playground_days d on d.account_id = ${accountId} and d.day = ${utcDay(now)}`.execute(
    em.getKysely(),
  );
  const row = rows[0]!;
  return {
    runsInMinute: row.runs_in_minute,
    oldestStartMs: row.oldest_ms ?? undefined,
    runsToday: row.runs_today ?? 0,
    outputTokensToday: Number(row.output_tokens_today ?? 0),
    inputTokensToday: Number(row.input_tokens_today ?? 0),
    unfinishedRuns: row.unfinished,
  };
}

/** Reserves what a starting session may use, and deletes days that no limit counts any more. */
export async function take(
  em: EntityManager,
  start: RequestedRuns & { sessionId: string; accountId: string; now: number },
): Promise<void> {
  const { sessionId, accountId, runs, maxTokens, inputTokens, now } = start;
  const day = utcDay(now);
  await em.insert(PlaygroundStart, { sessionId, accountId, startedAt: new Date(now), runs });
  await sql`
    insert into playground_days as d (account_id, day, runs, output_tokens, input_tokens)
    values (${accountId}, ${day}, ${runs}, ${runs * maxTokens}, ${runs * inputTokens})
    on conflict (account_id, day) do update
    set runs = d.runs + excluded.runs, output_tokens = d.output_tokens + excluded.output_tokens,
      input_tokens = d.input_tokens + excluded.input_tokens`.execute(em.getKysely());
  // Yesterday is kept: its runs may still end.
  await sql`delete from playground_days where account_id = ${accountId} and day < ${day}::date - 1`.execute(
    em.getKysely(),
  );
}

/** Replaces the reserved tokens of a run with those that it read and generated. */
export async function settleTokens(
  em: EntityManager,
  run: { accountId: string; day: string; maxTokens: number; estimatedInputTokens: number },
  used: TokenCounts,
): Promise<void> {
  await sql`
    update playground_days set output_tokens = greatest(0, output_tokens - ${run.maxTokens} + ${used.outputTokens}),
      input_tokens = greatest(0, input_tokens - ${run.estimatedInputTokens} + ${used.inputTokens})
    where account_id = ${run.accountId} and day = ${run.day}`.execute(em.getKysely());
}

/** Deletes sessions beyond the history that is kept, unless they are shared or in progress. */
export async function dropOldSessions(em: EntityManager, accountId: string): Promise<void> {
  await sql`
    delete from playground_sessions s where s.account_id = ${accountId} and not s.shared
      and (s.created_at, s.id) < (select o.created_at, o.id from playground_sessions o
        where o.account_id = ${accountId} order by o.created_at desc, o.id desc
        offset ${KEPT_SESSIONS - 1} limit 1)
      and not exists (select from playground_runs r
        where r.session_id = s.id and r.status in ('pending', 'running'))`.execute(em.getKysely());
}

/** Deletes the counts of a deleted account. */
export async function forgetBounds(em: EntityManager, accountId: string): Promise<void> {
  await sql`delete from playground_days where account_id = ${accountId}`.execute(em.getKysely());
  await em.nativeDelete(PlaygroundStart, { accountId });
}
