import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import { type ConnectionOptions, connectionOptions } from './connection.js';

/**
 * Opens MikroORM for a process that only runs SQL, such as the edge and the model proxy: it knows no entity and no migration.
 * To load and check all of them takes a fifth of such a process's start. Nothing is connected until the first query.
 */
export function openSqlOnly(options: ConnectionOptions): MikroORM {
  return new MikroORM(
    defineConfig({
      ...connectionOptions(options),
      entities: [],
      discovery: { warnWhenNoEntities: false },
    }),
  );
}
