import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { advisoryLocks } from '../../db/locks.js';

/** A living account (one that isn't deleted) as the services read it. */
export interface AccountRow {
  id: string;
  /** Null where an account has none and nobody can log in. */
  email: string | null;
  name: string;
  role: 'user' | 'admin';
  status: 'active' | 'disabled';
  plan_id: string;
  /** numeric(24,12) dollars. */
  balance: string;
  token_version: number;
  password_hash: string;
  /** Milliseconds. */
  created_at_ms: string;
}

/** Of `accounts a`, as an `AccountRow`. */
export const accountColumns = sql`a.id, a.email, a.name, a.role, a.status, a.plan_id, a.balance::text, a.token_version,
  a.password_hash, (extract(epoch from a.created_at) * 1000)::bigint::text as created_at_ms`;

async function one<T>(em: EntityManager, query: RawBuilder<T>): Promise<T | undefined> {
  return (await query.execute(em.getKysely())).rows[0];
}

export function findByEmailKey(em: EntityManager, emailKey: string): Promise<AccountRow | undefined> {
  return one(
    em,
    sql<AccountRow>`select ${accountColumns} from accounts a where a.email_key = ${emailKey} and a.deleted_at is null`,
  );
}

export function findById(em: EntityManager, id: string): Promise<AccountRow | undefined> {
  return one(
    em,
    sql<AccountRow>`select ${accountColumns} from accounts a where a.id = ${id} and a.deleted_at is null`,
  );
}

/** The same, locked until the transaction ends. */
export function lockById(em: EntityManager, id: string): Promise<AccountRow | undefined> {
  return one(
    em,
    sql<AccountRow>`select ${accountColumns} from accounts a where a.id = ${id} and a.deleted_at is null for update`,
  );
}

export interface NewAccount {
  id: string;
  email: string;
  emailKey: string;
  name: string;
  role: 'user' | 'admin';
  passwordHash: string;
  dataKeySealed: string;
  signupNetworkHash: string | null;
  createdAt: Date;
}

/** False when the mail is taken; two sign-ups at the same instant are told apart by the unique index. */
export async function insertAccount(em: EntityManager, account: NewAccount): Promise<boolean> {
  const inserted = await one(
    em,
    sql`
      insert into accounts (id, email, email_key, name, role, password_hash, data_key_sealed, signup_network_hash,
        created_at)
      values (${account.id}, ${account.email}, ${account.emailKey}, ${account.name}, ${account.role},
        ${account.passwordHash}, ${account.dataKeySealed}, ${account.signupNetworkHash}, ${account.createdAt})
      on conflict (email_key) do nothing returning id`,
  );
  return inserted !== undefined;
}

/** Claims the one starter credit of a folded mail; false when it was granted before. */
export async function claimStarterCredit(
  em: EntityManager,
  claim: { mailHash: string; accountId: string; now: Date },
): Promise<boolean> {
  const claimed = await one(
    em,
    sql`insert into starter_credits (mail_hash, account_id, created_at)
      values (${claim.mailHash}, ${claim.accountId}, ${claim.now})
      on conflict do nothing returning mail_hash`,
  );
  return claimed !== undefined;
}

/** Sets a password. All sessions end but `survivingSessionId`, which made the change; null ends that one too. */
export async function setPassword(
  em: EntityManager,
  change: { id: string; passwordHash: string; survivingSessionId: string | null },
): Promise<void> {
  await sql`
    update accounts set password_hash = ${change.passwordHash}, token_version = token_version + 1,
      surviving_session_id = ${change.survivingSessionId}
    where id = ${change.id}`.execute(em.getKysely());
}

/** Ends every session of an account. */
export async function endSessions(em: EntityManager, id: string): Promise<void> {
  await sql`update accounts set token_version = token_version + 1, surviving_session_id = null
    where id = ${id}`.execute(em.getKysely());
}

/** Removes an account's keys and tells which they were and what they held upstream. */
export async function deleteKeys(
  em: EntityManager,
  accountId: string,
): Promise<{ id: string; virtual_key_sealed: string | null }[]> {
  const { rows } = await sql<{ id: string; virtual_key_sealed: string | null }>`
    delete from api_keys where account_id = ${accountId} returning id, virtual_key_sealed`.execute(
    em.getKysely(),
  );
  return rows;
}

/** Takes what is personal from an account and closes it. Ledger and usage stay. */
export async function eraseAccount(em: EntityManager, id: string, now: Date): Promise<void> {
  await sql`
    update accounts set email = null, email_key = null, name = '', password_hash = null, data_key_sealed = null,
      virtual_key_sealed = null, status = 'disabled', token_version = token_version + 1,
      surviving_session_id = null, low_balance_threshold_usd = null, low_balance_armed = false,
      deleted_at = ${now}
    where id = ${id}`.execute(em.getKysely());
}

/** Sets what an administrator may change. */
export async function updateRights(
  em: EntityManager,
  change: { id: string; plan: string; status: string; role: string },
): Promise<void> {
  await sql`update accounts set plan_id = ${change.plan}, status = ${change.status}, role = ${change.role}
    where id = ${change.id}`.execute(em.getKysely());
}

/**
 * Whether an active administrator is left without this account. Whoever asks takes turns until the transaction ends, so
 * that two who go at once don't count on each other.
 */
export async function anotherAdminStays(em: EntityManager, id: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.administrators})`.execute(em.getKysely());
  const other = await one(
    em,
    sql`select 1 from accounts where role = 'admin' and status = 'active' and deleted_at is null and id <> ${id} limit 1`,
  );
  return other !== undefined;
}
