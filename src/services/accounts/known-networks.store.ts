import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { KnownNetwork } from '../../entities/accounts/known-network.js';

/** Networks remembered per account; the least recently used are removed first. */
const MOST = 20;

/** Whether an account has proven its password from this network since `since`. */
export async function isKnownNetwork(
  em: EntityManager,
  { emailKey, networkHash, since }: { emailKey: string; networkHash: string; since: Date },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from known_networks n join accounts a on a.id = n.account_id
    where a.email_key = ${emailKey} and n.network_hash = ${networkHash} and n.last_success_at > ${since}`.execute(
    em.getKysely(),
  );
  return rows.length > 0;
}

/**
 * Remembers that an account has proven its password from this network. Waits for concurrent changes of the account.
 * @returns false, with nothing written, when the account was deleted or disabled or its password changed since it was
 * read.
 */
export async function rememberNetwork(
  em: EntityManager,
  proof: { accountId: string; passwordHash: string; networkHash: string; now: Date },
): Promise<boolean> {
  const db = em.getKysely();
  const { rows } = await sql`
    with living as materialized (
      select id from accounts where id = ${proof.accountId} and status = 'active' and deleted_at is null
        and password_hash = ${proof.passwordHash} for key share)
    insert into known_networks (account_id, network_hash, last_success_at)
    select id, ${proof.networkHash}::text, ${proof.now}::timestamptz from living
    on conflict (account_id, network_hash) do update set last_success_at = excluded.last_success_at
    returning 1`.execute(db);
  if (rows.length === 0) return false;
  await sql`
    delete from known_networks where account_id = ${proof.accountId} and network_hash not in (
      select network_hash from known_networks where account_id = ${proof.accountId}
      order by last_success_at desc limit ${MOST})`.execute(db);
  return true;
}

export async function forgetNetworks(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(KnownNetwork, { accountId });
}
