import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { AccountRow } from './accounts.store.js';

/** Living accounts, newest first; `search` is looked for in mail and name, without case. */
export async function listAccounts(
  em: EntityManager,
  { limit, offset, search }: { limit: number; offset: number; search?: string | undefined },
): Promise<AccountRow[]> {
  const pattern = search ? `%${search.replace(/[\\%_]/g, '\\$&')}%` : null;
  const { rows } = await sql<AccountRow>`
    select id, email, name, role, status, plan_id, balance::text, token_version, password_hash,
      (extract(epoch from created_at) * 1000)::bigint::text as created_at_ms
    from accounts
    where deleted_at is null
      and (${pattern}::text is null or email ilike ${pattern} or name ilike ${pattern})
    order by created_at desc, id desc limit ${limit} offset ${offset}`.execute(em.getKysely());
  return rows;
}

export interface PlanRow {
  id: string;
  monthly_price_usd: string;
  included_credits_usd: string;
  allowed_models: string[];
  requests_per_minute: number;
}

export async function findPlan(em: EntityManager, id: string): Promise<PlanRow | undefined> {
  const { rows } = await sql<PlanRow>`
    select id, monthly_price_usd::text, included_credits_usd::text, allowed_models, requests_per_minute
    from plans where id = ${id}`.execute(em.getKysely());
  return rows[0];
}
