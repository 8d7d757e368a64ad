import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

/** Processes that look at one name at the same time take turns until their transaction ends. */
async function takeTurn(em: EntityManager, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(em.getKysely());
}

export interface LoginFailures {
  /** In the window, from everywhere. */
  account: number;
  /** In the window, from this network. */
  network: number;
  /** Milliseconds; null without any. */
  oldestOfAccountMs: number | null;
  oldestOfNetworkMs: number | null;
}

/** Counts an account's failed log-ins since `since`, locked against others who count the same account. */
export async function countLoginFailures(
  em: EntityManager,
  { mailHash, networkHash, since }: { mailHash: string; networkHash: string; since: Date },
): Promise<LoginFailures> {
  await takeTurn(em, `login:${mailHash}`);
  const { rows } = await sql<
    Record<'account' | 'network', string> & Record<'oldest' | 'near', string | null>
  >`
    select count(*)::text as account, count(*) filter (where network_hash = ${networkHash})::text as network,
      (extract(epoch from min(created_at)) * 1000)::bigint::text as oldest,
      (extract(epoch from min(created_at) filter (where network_hash = ${networkHash})) * 1000)::bigint::text as near
    from login_failures where mail_hash = ${mailHash} and created_at > ${since}`.execute(em.getKysely());
  const row = rows[0]!;
  const time = (text: string | null) => (text === null ? null : Number(text));
  return {
    account: Number(row.account),
    network: Number(row.network),
    oldestOfAccountMs: time(row.oldest),
    oldestOfNetworkMs: time(row.near),
  };
}

export async function insertLoginFailure(
  em: EntityManager,
  failure: { id: string; mailHash: string; networkHash: string; now: Date },
): Promise<void> {
  await sql`insert into login_failures (id, mail_hash, network_hash, created_at)
    values (${failure.id}, ${failure.mailHash}, ${failure.networkHash}, ${failure.now})`.execute(
    em.getKysely(),
  );
}

/** Takes back one attempt that wasn't a failure. */
export async function deleteLoginFailure(em: EntityManager, id: string): Promise<void> {
  await sql`delete from login_failures where id = ${id}`.execute(em.getKysely());
}

/** Forgets the failures of an account from one network, after a log-in that succeeded there. */
export async function clearLoginFailures(
  em: EntityManager,
  { mailHash, networkHash }: { mailHash: string; networkHash: string },
): Promise<void> {
  await sql`delete from login_failures where mail_hash = ${mailHash} and network_hash = ${networkHash}`.execute(
    em.getKysely(),
  );
}

/** Sign-ups of a network since `since`, locked against others who count the same network. */
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
