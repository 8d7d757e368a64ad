import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { PasswordReset } from '../../entities/accounts/password-reset.js';

/**
 * Keeps a token for the account of a mail, if it may act.
 * @returns the mail as its owner wrote it; undefined without such an account
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

/** Whose token it is; undefined when it was used, has run out or never was. */
export async function findReset(
  em: EntityManager,
  tokenHash: string,
  now: Date,
): Promise<string | undefined> {
  const reset = await em.findOne(PasswordReset, { tokenHash, expiresAt: { $gt: now } });
  return reset?.accountId;
}

/** Takes a token and all others of its account away. False when it is gone already: each is used once. */
export async function useReset(em: EntityManager, accountId: string, tokenHash: string): Promise<boolean> {
  const used = await em.nativeDelete(PasswordReset, { tokenHash });
  await forgetResets(em, accountId);
  return used > 0;
}

/** Takes away all tokens of an account. */
export async function forgetResets(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(PasswordReset, { accountId });
}
