import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import { entities } from '../entities/index.js';
import { type ConnectionOptions, connectionOptions } from './connection.js';
import { migrations } from './migrations.js';

/** MikroORM with every entity and migration. A process that migrates nothing opens it without those (`without-migrations.ts`). */
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

/** An array as PostgreSQL reads it. Each element is quoted: MikroORM leaves the word `null` bare, which stands for NULL. */
const quotedArray = (values: string[]): string =>
  `{${values.map((value) => `"${String(value).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;

/** Opens MikroORM for one process. Nothing is connected until the first query. */
export function openOrm(options: ConnectionOptions): MikroORM {
  // `init` would look for extensions that aren't installed.
  const orm = new MikroORM(ormOptions(options));
  orm.em.getPlatform().marshallArray = quotedArray;
  return orm;
}
