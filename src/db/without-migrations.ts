import { defineConfig, type MikroORM, type Options } from '@mikro-orm/postgresql';
import { type ConnectionOptions, connectionOptions, openAs } from './connection.js';

/**
 * Opens MikroORM for a process that migrates nothing: with the entities that it shares with others, or with none where it
 * only runs SQL. Migrations and their packages take longer to load than all else that such a process needs of the database.
 * Nothing is connected until the first query.
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
