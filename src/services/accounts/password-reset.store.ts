import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { PasswordReset } from '../../entities/accounts/password-reset.js';

/**
 * Stores a token for the account of an email address, if the account is active.
 * @returns the address as its owner wrote it; undefined without such an account
 */
export async function keepReset(
  em: EntityManager,
  reset: { emailKey: string; tokenHash: string; expiresAt: Date },
): Promise<string | undefined> {
  const { rows } = await sql<{ email: string }>`
    with kept as (
      insert into password_resets (token_hash, account_id, expires_at)
      select ${reset.tokenHash}, id, ${reset.expiresAt}::timestamptz from accounts
      where email_key = ${reset.emailKey} and status = 'active' and deleted_at is null
      returning account_id)
    select email from accounts where id = (select account_id from kept)`.execute(em.getKysely());
  return rows[0]?.email;
}

/** The account of a token; undefined when the token was used, has expired or never existed. */
export async function findReset(
  em: EntityManager,
  tokenHash: string,
  now: Date,
): Promise<string | undefined> {
  const reset = await em.findOne(PasswordReset, { tokenHash, expiresAt: { $gt: now } });
  return reset?.accountId;
}

/** Deletes a token and all others of its account. False when it is already gone: each token is used once. */
export async function useReset(em: EntityManager, accountId: string, tokenHash: string): Promise<boolean> {
  const used = await em.nativeDelete(PasswordReset, { tokenHash });
  await forgetResets(em, accountId);
  return used > 0;
}

export async function forgetResets(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(PasswordReset, { accountId });
}
