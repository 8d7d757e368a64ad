import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { takeTurn } from '../../db/in-transaction.js';
import { insertIfAbsent } from '../../db/insert-if-absent.js';
import { advisoryLocks } from '../../db/locks.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account, MAILBOX_SQL } from '../../entities/accounts/account.js';
import { StarterCredit } from '../../entities/accounts/starter-credit.js';

/** Finds an account that isn't deleted. */
export function findByNormalizedEmail(em: EntityManager, emailKey: string): Promise<Account | null> {
  return em.findOne(Account, { emailKey, deletedAt: null }, UNTRACKED);
}

export function findById(em: EntityManager, id: string): Promise<Account | null> {
  return em.findOne(Account, { id, deletedAt: null }, UNTRACKED);
}

/** The account by id, locked until the transaction ends. Changes to the entity are written at the end. */
export function lockById(em: EntityManager, id: string): Promise<Account | null> {
  return em.findOne(
    Account,
    { id, deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
}

/** The email key of the oldest living account of a mailbox. */
export async function oldestOfMailbox(em: EntityManager, mailbox: string): Promise<string | undefined> {
  // No `limit`: with one, the planner scans all accounts by age instead of the few of the mailbox.
  const { rows } = await sql<{ oldest: string | null }>`
    select (array_agg(email_key order by created_at, id))[1] as oldest from accounts
    where email_key is not null and ${sql.raw(MAILBOX_SQL)} = ${mailbox}`.execute(em.getKysely());
  return rows[0]?.oldest ?? undefined;
}

export type NewAccount = Pick<
  Account,
  'id' | 'email' | 'emailKey' | 'name' | 'role' | 'passwordHash' | 'dataKeySealed' | 'signupNetworkHash'
> & { createdAt: Date };

/** False if the email address is taken; the unique index decides between simultaneous sign-ups. */
export function insertAccount(em: EntityManager, account: NewAccount): Promise<boolean> {
  return insertIfAbsent(em, Account, { ...account, planId: 'free' }, 'emailKey');
}

/** Claims the starter credit of a folded email; false if it was granted before. */
export function claimStarterCredit(
  em: EntityManager,
  claim: { mailHash: string; accountId: string; now: Date },
): Promise<boolean> {
  const { mailHash, accountId, now } = claim;
  return insertIfAbsent(em, StarterCredit, { mailHash, accountId, createdAt: now });
}

/** Deletes an account's keys and returns their ids and virtual keys. */
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
 * Whether another active administrator remains. Callers take turns until their transaction ends, so that two
 * administrators who leave at once don't count on each other.
 */
export async function anotherAdminStays(em: EntityManager, id: string): Promise<boolean> {
  await takeTurn(em, advisoryLocks.administrators);
  const others = { role: 'admin', status: 'active', deletedAt: null, id: { $ne: id } } as const;
  return (await em.findOne(Account, others, { ...UNTRACKED, fields: ['id'] })) !== null;
}
