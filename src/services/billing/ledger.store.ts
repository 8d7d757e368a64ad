import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { LedgerEntry, type LedgerKind } from '../../entities/billing/ledger-entry.js';
import { newId } from '../../lib/ids.js';
import { formatMoney, type Money, parseMoney } from '../../lib/money.js';

/** An entry for `postLedgerEntry`. Only usage charges don't go through it: the flush writes them in sets. */
export interface LedgerPosting {
  accountId: string;
  kind: Exclude<LedgerKind, 'usage'>;
  /** Signed, 1e-12 dollars. */
  amount: Money;
  /** Unique per account for ever; starts with a namespace such as `topup:` or `grant:`. */
  idempotencyKey?: string;
  description?: string;
  /** Milliseconds. */
  now: number;
}

export interface PostedEntry {
  id: string;
  /** 1, 2, 3, … per account, without a gap. */
  seq: bigint;
  balanceAfter: Money;
}

/**
 * Appends one entry to an account's ledger and changes its balance, inside the caller's transaction (READ COMMITTED,
 * MikroORM's default). Locks the account row until that transaction ends, so writers of one account take turns. A
 * credit that raises the balance to the low-balance threshold arms the alert again. Bypasses MikroORM's identity map:
 * an `Account` loaded before keeps its old balance.
 * @returns `'duplicate'`, with nothing written, when the account has an entry with this idempotency key.
 * @throws Error outside a transaction, or when there is no such account.
 */
export async function postLedgerEntry(
  em: EntityManager,
  posting: LedgerPosting,
): Promise<PostedEntry | 'duplicate'> {
  if (!em.isInTransaction()) throw new Error('postLedgerEntry needs a transaction: the lock is part of it');
  const db = em.getKysely();
  const locked = await sql<{ balance: string; ledger_seq: string }>`
    select balance::text, ledger_seq::text from accounts where id = ${posting.accountId} for no key update`.execute(
    db,
  );
  const account = locked.rows[0];
  if (!account) throw new Error('postLedgerEntry: there is no such account');
  // Checked after taking the lock: an earlier writer with this key has committed by now.
  if (
    posting.idempotencyKey !== undefined &&
    (await findEntryByKey(em, posting.accountId, posting.idempotencyKey))
  ) {
    return 'duplicate';
  }
  const entry = {
    id: newId(),
    seq: BigInt(account.ledger_seq) + 1n,
    balanceAfter: parseMoney(account.balance) + posting.amount,
  };
  const seq = entry.seq.toString();
  const balance = formatMoney(entry.balanceAfter);
  await sql`
    with entry as (
      insert into ledger_entries
        (id, account_id, seq, kind, amount, balance_after, idempotency_key, description, created_at)
      values (${entry.id}, ${posting.accountId}, ${seq}::bigint, ${posting.kind},
        ${formatMoney(posting.amount)}::numeric, ${balance}::numeric, ${posting.idempotencyKey ?? null},
        ${posting.description ?? null}, ${new Date(posting.now)})
    )
    update accounts set balance = ${balance}::numeric, ledger_seq = ${seq}::bigint,
      last_credit = case when ${posting.amount > 0n && posting.kind !== 'adjustment'}
        then ${formatMoney(posting.amount)}::numeric else last_credit end,
      low_balance_told = low_balance_told and not ${posting.amount > 0n},
      low_balance_armed = low_balance_armed
        or (${posting.amount > 0n} and coalesce(${balance}::numeric >= low_balance_threshold_usd, false))
    where id = ${posting.accountId}`.execute(db);
  return entry;
}

export interface KeyedEntry {
  amount: Money;
  balanceAfter: Money;
}

export async function findEntryByKey(
  em: EntityManager,
  accountId: string,
  idempotencyKey: string,
): Promise<KeyedEntry | undefined> {
  const entry = await em.findOne(LedgerEntry, { accountId, idempotencyKey }, UNTRACKED);
  return entry
    ? { amount: parseMoney(entry.amount), balanceAfter: parseMoney(entry.balanceAfter) }
    : undefined;
}
