import { defineConfig, type MikroORM, type Options } from '@mikro-orm/postgresql';
import { type ConnectionOptions, connectionOptions, openAs } from './connection.js';

/**
 * Opens MikroORM for a process that doesn't migrate, with the given entities, or none if it only runs SQL. Migrations and their
 * packages take longer to load than everything else that such a process needs of the database. Connects with the first query.
 */
export function openWithoutMigrations(
  options: ConnectionOptions,
  entities: NonNullable<Options['entities']> = [],
): MikroORM {
  return openAs(
    defineConfig({
      ...connectionOptions(options),
      entities,
      discovery: { warnWhenNoEntities: false },
    }),
  );
}
