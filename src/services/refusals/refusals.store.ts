import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

export interface RefusedRow {
  key_id: string;
  key_name: string | null;
  key_status: 'active' | 'disabled' | 'deleted';
  code: string;
  model: string;
  calls: number;
  /** Milliseconds. */
  last_ms: number;
  /** Of the owner, over all reasons. */
  total: number;
}

export interface RefusedScope {
  accountId: string;
  /** Each of these keys separately; without them the account as a whole. */
  keyIds?: readonly string[];
  from: Date;
  until: Date;
  /** Maximum number of reasons per owner. */
  limit: number;
}

/** A refused call of an account by its id, between two hours. */
export async function readRefusedCall(
  em: EntityManager,
  { accountId, id, from, until }: { accountId: string; id: string; from: Date; until: Date },
): Promise<Omit<RefusedRow, 'calls' | 'last_ms' | 'total'> | undefined> {
  const { rows } = await sql<RefusedRow>`
    select r.key_id, coalesce(k.name, d.name) as key_name,
      case when k.id is null then 'deleted' else k.status end as key_status, r.code, r.model
    from refused_call_hours r
    left join api_keys k on k.id = r.key_id and k.account_id = r.account_id
    left join deleted_api_keys d on d.id = r.key_id and d.account_id = r.account_id
    where r.account_id = ${accountId} and r.hour >= ${from} and r.hour < ${until} and ${id}::uuid = any(r.ids)
    `.execute(em.getKysely());
  return rows[0];
}

/** Refused calls by key, code and model; for each owner the newest first. */
export async function readRefusedCalls(em: EntityManager, scope: RefusedScope): Promise<RefusedRow[]> {
  const { accountId, keyIds, from, until, limit } = scope;
  const owner = keyIds ? sql`partition by key_id` : sql``;
  const { rows } = await sql<RefusedRow>`
    with reasons as (
      select key_id, code, model, sum(calls) as calls, max(last_at) as last_at
      from refused_call_hours
      where account_id = ${accountId} and hour >= ${from} and hour < ${until}
        ${keyIds ? sql`and key_id = any(${keyIds}::uuid[])` : sql``}
      group by 1, 2, 3
    ), ranked as (
      select *, sum(calls) over (${owner}) as total,
        row_number() over (${owner} order by last_at desc, key_id, code, model) as nth
      from reasons
    )
    select r.key_id, coalesce(k.name, d.name) as key_name,
      case when k.id is null then 'deleted' else k.status end as key_status, r.code, r.model,
      r.calls::float8, floor(extract(epoch from r.last_at) * 1000)::float8 as last_ms, r.total::float8
    from ranked r
    left join api_keys k on k.id = r.key_id and k.account_id = ${accountId}
    left join deleted_api_keys d on d.id = r.key_id and d.account_id = ${accountId}
    where r.nth <= ${limit}
    order by r.nth`.execute(em.getKysely());
  return rows;
}
