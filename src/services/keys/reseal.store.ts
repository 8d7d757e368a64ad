import type { EntityManager } from '@mikro-orm/postgresql';
import { type RawBuilder, sql } from 'kysely';

/** A column of sealed values. */
export interface SealedColumn {
  table: 'api_keys' | 'accounts' | 'alert_subscriptions';
  column: 'virtual_key_sealed' | 'data_key_sealed' | 'signing_secret_sealed';
}

export interface SealedValue {
  id: string;
  sealed: string;
}

const isOld = (column: string, prefix: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} is not null and not starts_with(${sql.ref(column)}, ${prefix})`;

/** Values that don't begin with `prefix`, by id after `afterId`. */
export async function listOldSeals(
  em: EntityManager,
  { table, column }: SealedColumn,
  { prefix, afterId, limit }: { prefix: string; afterId: string; limit: number },
): Promise<SealedValue[]> {
  const { rows } = await sql<SealedValue>`
    select id, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where id > ${afterId} and ${isOld(column, prefix)} order by id limit ${limit}`.execute(em.getKysely());
  return rows;
}

export async function countOldSeals(
  em: EntityManager,
  { table, column }: SealedColumn,
  prefix: string,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from ${sql.table(table)} where ${isOld(column, prefix)}`.execute(
    em.getKysely(),
  );
  return rows[0]!.n;
}

/**
 * Replaces each value that hasn't changed since it was read; a concurrent change is newer and stays.
 * @returns the number of replaced values.
 */
export async function replaceSeals(
  em: EntityManager,
  { table, column }: SealedColumn,
  changes: readonly (SealedValue & { renewed: string })[],
): Promise<number> {
  const result = await sql`
    update ${sql.table(table)} as t set ${sql.ref(column)} = n.renewed
    from unnest(${changes.map(({ id }) => id)}::uuid[], ${changes.map(({ sealed }) => sealed)}::text[],
      ${changes.map(({ renewed }) => renewed)}::text[]) as n (id, sealed, renewed)
    where t.id = n.id and ${sql.ref(`t.${column}`)} = n.sealed`.execute(em.getKysely());
  return Number(result.numAffectedRows ?? 0);
}
