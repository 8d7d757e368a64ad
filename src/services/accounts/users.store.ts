import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { Plan } from '../../entities/billing/plan.js';
import { type ConnectionPage, pageOfRows, timeCursor } from '../../lib/connection-input.js';
import { isAfter } from '../list-position.js';
import type { UsersConnectionInput } from './accounts.inputs.js';

/** Living accounts, newest first; `search` is looked for in mail and name, without case. */
export function listAccounts(
  em: EntityManager,
  { limit, offset, search }: { limit: number; offset: number; search?: string | undefined },
): Promise<Account[]> {
  return em.find(Account, isFound(search), {
    ...UNTRACKED,
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit,
    offset,
  });
}

/** The same by position, which is finer than a `Date`. */
export async function pageAccounts(
  em: EntityManager,
  { first, after, search }: UsersConnectionInput,
): Promise<ConnectionPage<Account>> {
  const pattern = search === undefined || search === null ? null : patternOf(search);
  const { rows } = await sql<{ id: string; created_us: string }>`
    select a.*, (extract(epoch from a.created_at) * 1000000)::bigint::text as created_us
    from accounts a
    where a.deleted_at is null
      and ${pattern === null ? sql`true` : sql`(a.email ilike ${pattern} or a.name ilike ${pattern})`}
      ${after ? sql`and ${isAfter('a', after)}` : sql``}
    order by a.created_at desc, a.id desc limit ${first + 1}`.execute(em.getKysely());
  return pageOfRows(rows, first, ({ created_us, ...row }) => ({
    cursor: timeCursor({ createdUs: created_us, id: row.id }),
    node: em.map(Account, row, UNTRACKED),
  }));
}

/** Living accounts of the ids, in no order. Each id must have the form of a UUID. */
export function findAccounts(em: EntityManager, ids: readonly string[]): Promise<Account[]> {
  return em.find(Account, { id: { $in: [...ids] }, deletedAt: null }, UNTRACKED);
}

export function findPlan(em: EntityManager, id: string): Promise<Plan | null> {
  return em.findOne(Plan, { id }, UNTRACKED);
}

function isFound(search: string | undefined): FilterQuery<Account> {
  if (search === undefined) return { deletedAt: null };
  const $ilike = patternOf(search);
  return { deletedAt: null, $or: [{ email: { $ilike } }, { name: { $ilike } }] };
}

/** Finds a text anywhere, and only that text. */
const patternOf = (search: string): string => `%${search.replace(/[\\%_]/g, '\\$&')}%`;
