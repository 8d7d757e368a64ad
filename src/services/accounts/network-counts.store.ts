import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { NetworkCount as Counted } from '../../entities/accounts/network-count.js';

export interface NetworkCountLimit {
  /** What is counted, and for whom: the HMAC of a network or address, or an account id. */
  name: string;
  /** Maximum count in a window that starts with the first attempt. */
  maxAttempts: number;
  maxFailures: number;
  windowMs: number;
}

/**
 * Counts one attempt, as failed until `takeBack`. One statement counts and compares, so that simultaneous attempts
 * can't slip through.
 * @returns undefined; or, when the limit is reached and nothing was counted, the end of the window in milliseconds.
 */
export async function countAttempt(
  em: EntityManager,
  { name, maxAttempts, maxFailures, windowMs }: NetworkCountLimit,
  nowMs: number,
): Promise<number | undefined> {
  const now = new Date(nowMs);
  const end = new Date(nowMs + windowMs);
  const counted = await sql`
    insert into network_counts as c (name, attempts, failures, ends_at) values (${name}, 1, 1, ${end})
    on conflict (name) do update set
      attempts = case when c.ends_at <= ${now} then 1 else c.attempts + 1 end,
      failures = case when c.ends_at <= ${now} then 1 else c.failures + 1 end,
      ends_at = case when c.ends_at <= ${now} then excluded.ends_at else c.ends_at end
    where c.ends_at <= ${now} or (c.attempts < ${maxAttempts} and c.failures < ${maxFailures})
    returning 1`.execute(em.getKysely());
  if (counted.rows.length > 0) return undefined;
  return (await em.findOneOrFail(Counted, { name }, UNTRACKED)).endsAt.getTime();
}

/**
 * Counts a request for good: at most `most` in a window that starts with the first one.
 * @returns as `countAttempt`
 */
export const countRequest = (
  em: EntityManager,
  { name, most, windowMs }: { name: string; most: number; windowMs: number },
  nowMs: number,
): Promise<number | undefined> =>
  countAttempt(em, { name, maxAttempts: most, maxFailures: most, windowMs }, nowMs);

/** Uncounts an attempt that succeeded or was never made. The names come in the order in which they were counted. */
export async function takeBack(
  em: EntityManager,
  names: readonly string[],
  { attempt }: { attempt: boolean },
): Promise<void> {
  if (names.length === 0) return;
  // Locked in that order too, so that counting and uncounting can't deadlock.
  await sql`
    with locked as materialized (
      select name from network_counts where name = any(${names}) order by array_position(${names}::text[], name) for update)
    update network_counts c set failures = greatest(c.failures - 1, 0), attempts = c.attempts - ${Number(attempt)}::int
    from locked where c.name = locked.name`.execute(em.getKysely());
}
