import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { type ConnectionPage, pageOfRows, timeCursor } from '../../lib/connection-input.js';
import { isAfter } from '../list-position.js';
import type { UsersConnectionInput } from './accounts.inputs.js';
import { type AccountRow, accountColumns } from './accounts.store.js';

/** Living accounts, newest first; `search` is looked for in mail and name, without case. */
export async function listAccounts(
  em: EntityManager,
  { limit, offset, search }: { limit: number; offset: number; search?: string | undefined },
): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    select ${accountColumns} from accounts a where ${isFound(search)}
    order by a.created_at desc, a.id desc limit ${limit} offset ${offset}`.execute(em.getKysely());
  return rows;
}

/** The same by position. */
export async function pageAccounts(
  em: EntityManager,
  { first, after, search }: UsersConnectionInput,
): Promise<ConnectionPage<AccountRow>> {
  const { rows } = await sql<AccountRow & { created_us: string }>`
    select ${accountColumns}, (extract(epoch from a.created_at) * 1000000)::bigint::text as created_us
    from accounts a where ${isFound(search ?? undefined)} ${after ? sql`and ${isAfter('a', after)}` : sql``}
    order by a.created_at desc, a.id desc limit ${first + 1}`.execute(em.getKysely());
  return pageOfRows(rows, first, (row) => ({
    cursor: timeCursor({ createdUs: row.created_us, id: row.id }),
    node: row,
  }));
}

/** Living accounts of the ids, in no order. Each id must have the form of a UUID. */
export async function findAccounts(em: EntityManager, ids: readonly string[]): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    select ${accountColumns} from accounts a
    where a.id = any(${ids}::uuid[]) and a.deleted_at is null`.execute(em.getKysely());
  return rows;
}

function isFound(search: string | undefined): RawBuilder<boolean> {
  if (search === undefined) return sql<boolean>`a.deleted_at is null`;
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`a.deleted_at is null and (a.email ilike ${pattern} or a.name ilike ${pattern})`;
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
