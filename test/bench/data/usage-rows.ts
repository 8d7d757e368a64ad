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
  await client.query(
    `insert into call_routes (requested_model, served_model, moved_to, endpoint, price_in, price_out, deployment, node_id)
     select distinct requested_model, served_model, moved_to, endpoint, price_in, price_out, deployment, node_id
     from bench_calls on conflict do nothing`,
  );
  await client.query(
    `insert into calls (created_at, seq, id, account_id, key_id, route_id, input_tokens, output_tokens, latency_ms, ttft_ms,
       http_status, node_calls, stream, failed, client_aborted, estimated, anomalous, cost, balance_after, widget_id,
       prompt_version_id, error_code, error_message)
     select c.created_at, case when c.cost > 0 then a.ledger_seq + count(*) filter (where c.cost > 0) over earlier end, c.id,
       c.account_id, c.key_id, r.id, c.input_tokens, c.output_tokens, c.latency_ms, c.ttft_ms, c.http_status, c.node_calls,
       c.stream, c.status = 'error', c.client_aborted, c.estimated, c.anomalous, c.cost,
       case when c.cost > 0 then a.balance - sum(c.cost) over earlier end, c.widget_id, c.prompt_version_id, c.error_code,
       c.error_message
     from bench_calls c join accounts a on a.id = c.account_id
       join call_routes r on (r.requested_model, r.served_model, r.endpoint, r.price_in, r.price_out)
           = (c.requested_model, c.served_model, c.endpoint, c.price_in, c.price_out)
         and (r.moved_to, r.deployment, r.node_id) is not distinct from (c.moved_to, c.deployment, c.node_id)
     window earlier as (partition by c.account_id order by c.created_at, c.id)
     order by c.created_at, c.id`,
  );
  await client.query(
    `update accounts a set balance = a.balance - t.total, ledger_seq = a.ledger_seq + t.entries
     from (select account_id, count(*) as entries, sum(cost) as total from bench_calls where cost > 0 group by 1) t
     where a.id = t.account_id`,
  );
}
