import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { encodeInvalidation, INVALIDATION_CHANNEL, notifyInvalidation } from '../../db/invalidation.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Plan } from '../../entities/billing/plan.js';
import { utcMonth } from '../../lib/clock.js';
import { newId } from '../../lib/ids.js';
import { parseMoney } from '../../lib/money.js';
import { postLedgerEntry } from './ledger.store.js';

/**
 * Grants the included credits of a plan for the UTC month of `now` (milliseconds), inside the caller's transaction,
 * and notifies the edges. A plan without a price grants nothing: its credit is the starter credit.
 * @returns false when this account already has this plan's grant of this month.
 */
export async function grantIncludedCredits(
  em: EntityManager,
  { accountId, planId, now }: { accountId: string; planId: string; now: number },
): Promise<boolean> {
  const paid = { id: planId, monthlyPriceUsd: { $gt: '0' }, includedCreditsUsd: { $gt: '0' } };
  const plan = await em.findOne(Plan, paid, UNTRACKED);
  if (!plan) return false;
  const posted = await postLedgerEntry(em, {
    accountId,
    kind: 'grant',
    amount: parseMoney(plan.includedCreditsUsd),
    idempotencyKey: grantKey(accountId, planId, now),
    description: grantDescription(planId, now),
    now,
  });
  if (posted === 'duplicate') return false;
  await notifyInvalidation(em, { kind: 'account', id: accountId });
  return true;
}

/** A page of accounts that may get credits, by id, and how to treat locked ones. */
interface DueAccounts {
  afterId: string;
  limit: number;
  now: number;
  /** `look` takes no locks. */
  locks: 'skip locked' | 'look';
}

/**
 * The next accounts, by id, that have a paid plan and may lack its grant of this month. Locks them in order of their
 * ids, as the flush does, so that nobody changes their money or plan in the meantime.
 */
export async function accountsDueForGrant(
  em: EntityManager,
  { afterId, limit, now, locks }: DueAccounts,
): Promise<string[]> {
  const found = await sql<{ id: string }>`
    select a.id from accounts a join plans p on p.id = a.plan_id
    where a.id > ${afterId} and a.status = 'active' and a.deleted_at is null
      and p.monthly_price_usd > 0 and p.included_credits_usd > 0
      and not exists (
        select 1 from ledger_entries l
        where l.account_id = a.id
          and l.idempotency_key = concat('grant:', a.id, ':', a.plan_id, ':', ${utcMonth(now)}::text))
    order by a.id limit ${limit}
    ${locks === 'skip locked' ? sql`for no key update of a skip locked` : sql``}`.execute(em.getKysely());
  return found.rows.map((row) => row.id);
}

/** Locks an account, or fails after a limited wait: a flush holds the lock for milliseconds. */
export async function lockWithin(em: EntityManager, accountId: string, wait: string): Promise<void> {
  const db = em.getKysely();
  await sql`select set_config('lock_timeout', ${wait}, true)`.execute(db);
  await sql`select from accounts where id = ${accountId} for no key update`.execute(db);
}

/**
 * Writes the grants of locked accounts in one statement. It runs after the statement that takes the locks, so it sees
 * what was committed during the wait, and skips accounts that were granted or changed since.
 * @returns the number of accounts that received money.
 */
export async function grantToLockedAccounts(
  em: EntityManager,
  accountIds: string[],
  now: number,
): Promise<number> {
  const month = utcMonth(now);
  const entryIds = accountIds.map(() => newId());
  const granted = await sql`
    with due as (
      select a.id, a.plan_id, a.ledger_seq + 1 as seq, p.included_credits_usd as amount,
        a.balance + p.included_credits_usd as balance, ids.entry_id,
        concat('grant:', a.id, ':', a.plan_id, ':', ${month}::text) as idempotency_key
      from unnest(${accountIds}::uuid[], ${entryIds}::uuid[]) as ids (account_id, entry_id)
      join accounts a on a.id = ids.account_id
      join plans p on p.id = a.plan_id
      where a.status = 'active' and a.deleted_at is null
        and p.monthly_price_usd > 0 and p.included_credits_usd > 0
    ), entries as (
      insert into ledger_entries
        (id, account_id, seq, kind, amount, balance_after, idempotency_key, description, created_at)
      select entry_id, id, seq, 'grant', amount, balance, idempotency_key,
        concat('Included credits of plan ', plan_id, ', ', ${month}::text), ${new Date(now)}
      from due
      where not exists (
        select 1 from ledger_entries l where l.account_id = due.id and l.idempotency_key = due.idempotency_key)
      returning account_id, seq, amount, balance_after
    ), moved as (
      update accounts a set balance = entries.balance_after, ledger_seq = entries.seq, last_credit = entries.amount,
        low_balance_told = false,
        low_balance_armed = a.low_balance_armed
          or coalesce(entries.balance_after >= a.low_balance_threshold_usd, false)
      from entries where a.id = entries.account_id
      returning a.id
    )
    select pg_notify(${INVALIDATION_CHANNEL}, concat(${encodeInvalidation({ kind: 'account', id: '' })}::text, id))
    from moved`.execute(em.getKysely());
  return granted.rows.length;
}

/** Idempotency key of a plan's grant: one per account, plan and UTC month. */
function grantKey(accountId: string, planId: string, nowMs: number): string {
  return `grant:${accountId}:${planId}:${utcMonth(nowMs)}`;
}

/** Text of a grant in the ledger. */
function grantDescription(planId: string, nowMs: number): string {
  return `Included credits of plan ${planId}, ${utcMonth(nowMs)}`;
}
