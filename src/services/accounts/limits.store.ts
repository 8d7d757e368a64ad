import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { LoginFailure } from '../../entities/accounts/login-failure.js';

/** Serializes processes that read the same name, until their transaction ends. */
async function takeTurn(em: EntityManager, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(em.getKysely());
}

/** The account whose password was tried, and the caller's networks, narrowest first; all as HMACs. */
export interface LoginSubject {
  mailHash: string;
  networkHashes: readonly string[];
}

/** Failures in the window. */
export interface FailureCount {
  count: number;
  /** Milliseconds; null without failures. */
  oldestMs: number | null;
}

/**
 * Counts an account's failed log-ins since `since`, and locks the account's count.
 * @returns the counts per network, and the total.
 */
export async function countLoginFailures(
  em: EntityManager,
  { mailHash, networkHashes }: LoginSubject,
  since: Date,
): Promise<{ networks: FailureCount[]; account: FailureCount }> {
  await takeTurn(em, `login:${mailHash}`);
  const { rows } = await sql<{ at: number | null; n: number; oldest: string | null }>`
    with recent as materialized (
      select created_at, array[network_hash, middle_hash, wide_hash] as hashes from login_failures
      where mail_hash = ${mailHash} and created_at > ${since})
    select asked.at::int as at, count(r.created_at)::int as n,
      (extract(epoch from min(r.created_at)) * 1000)::bigint::text as oldest
    from unnest(${networkHashes}::text[]) with ordinality as asked (hash, at)
    left join recent r on asked.hash = r.hashes[asked.at] group by asked.at
    union all
    select null, count(*)::int, (extract(epoch from min(created_at)) * 1000)::bigint::text from recent`.execute(
    em.getKysely(),
  );
  const countOf = (at: number | null): FailureCount => {
    const row = rows.find((one) => one.at === at);
    return {
      count: row?.n ?? 0,
      oldestMs: row === undefined || row.oldest === null ? null : Number(row.oldest),
    };
  };
  return { networks: networkHashes.map((_, i) => countOf(i + 1)), account: countOf(null) };
}

export async function insertLoginFailure(
  em: EntityManager,
  { id, mailHash, networkHashes, now }: LoginSubject & { id: string; now: Date },
): Promise<void> {
  const [networkHash, middleHash = null, wideHash = null] = networkHashes;
  await em.insert(LoginFailure, {
    id,
    mailHash,
    networkHash: networkHash!,
    middleHash,
    wideHash,
    createdAt: now,
  });
}

/** Takes back one attempt that wasn't a failure. */
export async function deleteLoginFailure(em: EntityManager, id: string): Promise<void> {
  await em.nativeDelete(LoginFailure, { id });
}

/** Deletes the failures of an account from one network, after a successful log-in there. */
export async function clearLoginFailures(
  em: EntityManager,
  { mailHash, networkHashes }: LoginSubject,
): Promise<void> {
  await em.nativeDelete(LoginFailure, { mailHash, networkHash: networkHashes[0]! });
}

/** Sign-ups of a network since `since`; locks the network's count. */
export async function countSignups(
  em: EntityManager,
  { networkHash, since }: { networkHash: string; since: Date },
): Promise<{ count: number; oldestMs: number | null }> {
  await takeTurn(em, `signup:${networkHash}`);
  const { rows } = await sql<{ count: string; oldest: string | null }>`
    select count(*)::text as count, (extract(epoch from min(created_at)) * 1000)::bigint::text as oldest
    from accounts where signup_network_hash = ${networkHash} and created_at > ${since}`.execute(
    em.getKysely(),
  );
  const row = rows[0]!;
  return { count: Number(row.count), oldestMs: row.oldest === null ? null : Number(row.oldest) };
}
