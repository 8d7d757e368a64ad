import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, type MikroORM } from '@mikro-orm/postgresql';
import { entities } from '../entities/index.js';
import { type ConnectionOptions, connectionOptions, openAs } from './connection.js';
import { migrations } from './migrations.js';

/** Options of MikroORM with all entities and migrations. Processes that don't migrate use `without-migrations.ts`. */
function ormOptions(options: ConnectionOptions) {
  return defineConfig({
    ...connectionOptions(options),
    entities,
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations,
      snapshot: false,
      transactional: true,
    },
    schemaGenerator: {
      ignoreRoutines: true,
      skipTables: [/^agenda/],
    },
  });
}

/** Opens MikroORM. Connects with the first query. */
export function openOrm(options: ConnectionOptions): MikroORM {
  return openAs(ormOptions(options));
}
