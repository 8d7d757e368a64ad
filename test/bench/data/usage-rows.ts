import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { createLogger } from '../../../src/lib/logger.js';
import { addPartitions } from '../../../src/services/partitions/partitions.service.js';

/**
 * The physical form of usage events and ledger entries: the only file of the bench that writes them.
 */

/** Adds the partition of a month, as a start of the product in that month would. */
export async function addMonth(em: EntityManager, at: Date): Promise<void> {
  const clock = { now: () => at.getTime() };
  await em.transactional((inner) =>
    addPartitions({ em: inner, clock, log: createLogger('bench', 'silent') }, 'month'),
  );
}

/** Credits each account with `amount` dollars of its row in `credits (account_id, amount)`, at `at`. */
async function credit(
  client: pg.ClientBase,
  { kind, at, credits }: { kind: 'starter' | 'topup'; at: Date; credits: string },
): Promise<void> {
  await client.query(
    `with credited as (
       update accounts a set balance = balance + c.amount, ledger_seq = ledger_seq + 1, last_credit = c.amount
       from (${credits}) c where c.account_id = a.id
       returning a.id, a.balance, a.ledger_seq, c.amount)
     insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, description, created_at)
     select uuidv7($2::timestamptz - clock_timestamp()), id, ledger_seq, $1, amount, balance,
       case $1 when 'starter' then 'Starter credit' else 'Top-up' end, $2
     from credited`,
    [kind, at],
  );
}

/** The starter credit of every account. */
export const creditStarters = (client: pg.ClientBase, at: Date): Promise<void> =>
  credit(client, {
    kind: 'starter',
    at,
    credits: 'select id as account_id, 1.0 as amount from bench_accounts',
  });

/**
 * Writes the calls of `bench_calls` as usage events and charges, in the order in which they ended, after a top-up at
 * `at` that covers them.
 */
export async function writeUsage(client: pg.ClientBase, at: Date): Promise<void> {
  await credit(client, {
    kind: 'topup',
    at,
    credits: 'select account_id, ceil(sum(cost)) + 1 as amount from bench_calls group by 1',
  });
  await client.query('insert into usage_events select * from bench_calls order by created_at, id');
  await client.query(
    `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, event_id, price_in, price_out, created_at)
     select c.id, c.account_id, a.ledger_seq + row_number() over earlier, 'usage', -c.cost,
       a.balance - sum(c.cost) over earlier, c.id, c.price_in, c.price_out, c.created_at
     from bench_calls c join accounts a on a.id = c.account_id where c.cost > 0
     window earlier as (partition by c.account_id order by c.created_at, c.id)
     order by c.created_at, c.id`,
  );
  await client.query(
    `update accounts a set balance = a.balance - t.total, ledger_seq = a.ledger_seq + t.entries
     from (select account_id, count(*) as entries, sum(cost) as total from bench_calls where cost > 0 group by 1) t
     where a.id = t.account_id`,
  );
}
