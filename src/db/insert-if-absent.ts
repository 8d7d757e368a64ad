import type { EntityClass, EntityManager, RequiredEntityData } from '@mikro-orm/postgresql';

/**
 * Inserts a row unless a unique constraint is already taken. Two callers at the same instant: one inserts, the other
 * gets false.
 * @param field limits this to the constraint of one field; without it any constraint counts.
 */
export async function insertIfAbsent<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  row: RequiredEntityData<Entity>,
  field?: string & keyof Entity,
): Promise<boolean> {
  const insert = em.createQueryBuilder(entity).insert(row as never);
  const { affectedRows } = await insert
    .onConflict(field && [field as never])
    .ignore()
    .execute('run');
  return affectedRows > 0;
}
