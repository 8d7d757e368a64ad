import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { advisoryLocks } from '../../db/locks.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';

/** A living account: one that isn't deleted. */
export function findByEmailKey(em: EntityManager, emailKey: string): Promise<Account | null> {
  return em.findOne(Account, { emailKey, deletedAt: null }, UNTRACKED);
}

export function findById(em: EntityManager, id: string): Promise<Account | null> {
  return em.findOne(Account, { id, deletedAt: null }, UNTRACKED);
}

/** The same as it is now, locked until the transaction ends: what is changed on it is written at its end. */
export function lockById(em: EntityManager, id: string): Promise<Account | null> {
  return em.findOne(
    Account,
    { id, deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
}

export type NewAccount = Pick<
  Account,
  'id' | 'email' | 'emailKey' | 'name' | 'role' | 'passwordHash' | 'dataKeySealed' | 'signupNetworkHash'
> & { createdAt: Date };

/** False when the mail is taken; two sign-ups at the same instant are told apart by the unique index. */
export async function insertAccount(em: EntityManager, account: NewAccount): Promise<boolean> {
  const { rows } = await sql`
    insert into accounts (id, email, email_key, name, role, password_hash, data_key_sealed, signup_network_hash,
      created_at)
    values (${account.id}, ${account.email}, ${account.emailKey}, ${account.name}, ${account.role},
      ${account.passwordHash}, ${account.dataKeySealed}, ${account.signupNetworkHash}, ${account.createdAt})
    on conflict (email_key) do nothing returning id`.execute(em.getKysely());
  return rows.length > 0;
}

/** Claims the one starter credit of a folded mail; false when it was granted before. */
export async function claimStarterCredit(
  em: EntityManager,
  claim: { mailHash: string; accountId: string; now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into starter_credits (mail_hash, account_id, created_at)
    values (${claim.mailHash}, ${claim.accountId}, ${claim.now})
    on conflict do nothing returning mail_hash`.execute(em.getKysely());
  return rows.length > 0;
}

/** Removes an account's keys and tells which they were and what they held upstream. */
export async function deleteKeys(
  em: EntityManager,
  accountId: string,
): Promise<{ id: string; virtual_key_sealed: string | null }[]> {
  const db = em.getKysely();
  const { rows } = await sql<{ id: string; virtual_key_sealed: string | null }>`
    delete from api_keys where account_id = ${accountId} returning id, virtual_key_sealed`.execute(db);
  await sql`delete from deleted_api_keys where account_id = ${accountId}`.execute(db);
  return rows;
}

/**
 * Whether an active administrator is left without this account. Whoever asks takes turns until the transaction ends, so
 * that two who go at once don't count on each other.
 */
export async function anotherAdminStays(em: EntityManager, id: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.administrators})`.execute(em.getKysely());
  const others = { role: 'admin', status: 'active', deletedAt: null, id: { $ne: id } } as const;
  return (await em.findOne(Account, others, { ...UNTRACKED, fields: ['id'] })) !== null;
}
