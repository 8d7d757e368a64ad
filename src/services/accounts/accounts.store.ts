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
export function findByEmailKey(em: EntityManager, emailKey: string): Promise<Account | null> {
  return em.findOne(Account, { emailKey, deletedAt: null }, UNTRACKED);
}

export function findById(em: EntityManager, id: string): Promise<Account | null> {
  return em.findOne(Account, { id, deletedAt: null }, UNTRACKED);
}

/** The same, freshly read and locked until the transaction ends; changes to it are written at its end. */
export function lockById(em: EntityManager, id: string): Promise<Account | null> {
  return em.findOne(
    Account,
    { id, deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
}

/** The mail key of the oldest living account of a mailbox. */
export async function oldestOfMailbox(em: EntityManager, mailbox: string): Promise<string | undefined> {
  // No `limit`: the planner would rather read all accounts in the order of their age than the few of the mailbox.
  const { rows } = await sql<{ oldest: string | null }>`
    select (array_agg(email_key order by created_at, id))[1] as oldest from accounts
    where email_key is not null and ${sql.raw(MAILBOX_SQL)} = ${mailbox}`.execute(em.getKysely());
  return rows[0]?.oldest ?? undefined;
}

export type NewAccount = Pick<
  Account,
  'id' | 'email' | 'emailKey' | 'name' | 'role' | 'passwordHash' | 'dataKeySealed' | 'signupNetworkHash'
> & { createdAt: Date };

/** False if the email is taken; a unique index decides between two sign-ups at the same instant. */
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
 * Whether an active administrator is left without this account. Whoever asks takes turns until the transaction ends, so
 * that two who go at once don't count on each other.
 */
export async function anotherAdminStays(em: EntityManager, id: string): Promise<boolean> {
  await takeTurn(em, advisoryLocks.administrators);
  const others = { role: 'admin', status: 'active', deletedAt: null, id: { $ne: id } } as const;
  return (await em.findOne(Account, others, { ...UNTRACKED, fields: ['id'] })) !== null;
}
