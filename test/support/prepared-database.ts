import { type EmbeddedPostgres, ensureDatabase } from '../../src/db/embedded.js';
import { migrate } from '../../src/db/migrate.js';
import { openOrm } from '../../src/db/orm.js';
import { seedCatalog } from '../../src/db/seed.js';

/** Creates a database with the product's schema and catalog on a server. */
export async function prepareDatabase(server: EmbeddedPostgres, name: string): Promise<void> {
  await ensureDatabase(server, name);
  const orm = openOrm({ databaseUrl: server.url(name), processName: 'test-setup' });
  await migrate(orm, (em) => seedCatalog(em));
  await orm.close();
}
