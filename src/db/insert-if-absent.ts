import type { EntityClass, EntityManager, RequiredEntityData } from '@mikro-orm/postgresql';

/**
 * Inserts a row unless it would violate a unique constraint. Of two concurrent callers, one inserts and the other gets
 * false.
 * @param field Considers only the constraint of this field; by default, any constraint.
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
