import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { Plan } from '../../entities/billing/plan.js';
import {
  type ConnectionPage,
  pageOfRows,
  type TimePosition,
  timeCursor,
} from '../../lib/connection-input.js';
import { isAfter } from '../list-position.store.js';
import type { UsersConnectionInput } from './accounts.inputs.js';

interface Asked {
  limit: number;
  offset?: number | undefined;
  after?: TimePosition | undefined;
  /** Text to search for in email address and name. Case-insensitive. */
  search?: string | null | undefined;
}

interface Placed {
  /** Position in the list, more precise than a `Date`. */
  createdUs: string;
  account: Account;
}

/** Living accounts, newest first. */
async function newestAccounts(
  em: EntityManager,
  { limit, offset = 0, after, search }: Asked,
): Promise<Placed[]> {
  const { rows } = await sql<{ created_us: string }>`
    select a.*, (extract(epoch from a.created_at) * 1000000)::bigint::text as created_us
    from accounts a where ${isFound(search ?? undefined)} ${after ? sql`and ${isAfter('a', after)}` : sql``}
    order by a.created_at desc, a.id desc limit ${limit} offset ${offset}`.execute(em.getKysely());
  return rows.map(({ created_us, ...row }) => ({
    createdUs: created_us,
    account: em.map(Account, row, UNTRACKED),
  }));
}

export async function listAccounts(
  em: EntityManager,
  asked: { limit: number; offset: number; search?: string | undefined },
): Promise<Account[]> {
  return (await newestAccounts(em, asked)).map(({ account }) => account);
}

/** A page of living accounts by cursor. */
export async function pageAccounts(
  em: EntityManager,
  { first, after, search }: UsersConnectionInput,
): Promise<ConnectionPage<Account>> {
  const rows = await newestAccounts(em, { limit: first + 1, after, search });
  return pageOfRows(rows, first, ({ createdUs, account }) => ({
    cursor: timeCursor({ createdUs, id: account.id }),
    node: account,
  }));
}

/** Living accounts of the ids, in no particular order. Each id must be a UUID. */
export function findAccounts(em: EntityManager, ids: readonly string[]): Promise<Account[]> {
  return em.find(Account, { id: { $in: [...ids] }, deletedAt: null }, UNTRACKED);
}

export function findPlan(em: EntityManager, id: string): Promise<Plan | null> {
  return em.findOne(Plan, { id }, UNTRACKED);
}

function isFound(search: string | undefined): RawBuilder<boolean> {
  if (search === undefined) return sql<boolean>`a.deleted_at is null`;
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`a.deleted_at is null and (a.email ilike ${pattern} or a.name ilike ${pattern})`;
}
