import type { ServiceContext } from '../../src/context.js';
import { systemClock } from '../../src/lib/clock.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import type { TestDatabase } from '../support/database.js';

/** An account as sign-up leaves it, but for its credit. Gives its id. */
export async function insertAccount(
  db: TestDatabase,
  { plan = 'free', status = 'active' }: { plan?: string; status?: 'active' | 'disabled' } = {},
): Promise<string> {
  const id = newId();
  await db.pool.query(
    `insert into accounts (id, email, email_key, name, plan_id, status, created_at)
     values ($1, $2, $2, 'Ada', $3, $4, now())`,
    [id, `${id}@example.com`, plan, status],
  );
  return id;
}

/** What a request of this account (or of nobody) brings along. */
export function contextOf(
  db: Pick<TestDatabase, 'orm'>,
  accountId: string | null,
  now?: () => number,
): ServiceContext {
  return {
    viewer: accountId
      ? { accountId, email: 'ada@example.com', role: 'user', sessionId: newId(), tokenVersion: 0 }
      : null,
    em: db.orm.em.fork(),
    clock: now ? { now } : systemClock,
    log: createLogger('test', 'silent'),
    network: '127.0.0.0/24',
    networks: ['127.0.0.1', '127.0.0.0/24'],
    loopback: true,
  };
}

/** Credits of a cent each to an account, now, as adjustments leave them. */
export async function insertCredits(
  db: Pick<TestDatabase, 'pool'>,
  accountId: string,
  count: number,
): Promise<void> {
  await db.pool.query(
    `with a as (
       update accounts set balance = balance + 0.01 * $2::integer, ledger_seq = ledger_seq + $2::integer where id = $1
       returning old.balance as before, old.ledger_seq as seq)
     insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
     select gen_random_uuid(), $1, seq + n, 'adjustment', 0.01, before + 0.01 * n, now()
     from a, generate_series(1, $2::integer) as n`,
    [accountId, count],
  );
}

export interface LedgerRow {
  seq: string;
  kind: string;
  amount: string;
  balance_after: string;
  idempotency_key: string | null;
}

export async function ledgerOf(db: TestDatabase, accountId: string): Promise<LedgerRow[]> {
  const found = await db.pool.query<LedgerRow>(
    `select seq::text, kind, trim_scale(amount)::text as amount, trim_scale(balance_after)::text as balance_after,
       idempotency_key
     from ledger_entries where account_id = $1 order by seq`,
    [accountId],
  );
  return found.rows;
}

/**
 * What must hold of every account, or of the one that is named, at any time: no gap, every step adds up, the balance is
 * the sum.
 */
export async function brokenLedgers(
  db: Pick<TestDatabase, 'pool'>,
  accountId: string | null = null,
): Promise<unknown[]> {
  const found = await db.pool.query(
    `
    select a.id, a.balance, a.ledger_seq, l.* from accounts a left join lateral (
      select count(*) as entries, coalesce(sum(amount), 0) as total, coalesce(max(seq), 0) as newest,
        coalesce(bool_and(adds_up), true) as adds_up
      from (
        select amount, seq, balance_after = amount + lag(balance_after, 1, 0) over (order by seq) as adds_up
        from ledger_entries where account_id = a.id) e
    ) l on true
    where ($1::uuid is null or a.id = $1)
      and (a.balance <> l.total or a.ledger_seq <> l.newest or l.entries <> l.newest or not l.adds_up)`,
    [accountId],
  );
  return found.rows;
}
