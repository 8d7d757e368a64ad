import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/db/embedded.js';
import { putCluster } from './cluster.js';

/** A real server with the product's database, for tests that change settings of the server. */
export interface OwnServer {
  /** Folder that is removed with the server. The server's user can enter it. */
  folder: string;
  server: EmbeddedPostgres;
  /** Address of the product's database. */
  url: string;
  /** Sends statements, separately, as the superuser on a connection that is closed afterwards. */
  tell(...statements: string[]): Promise<Record<string, string>[]>;
  close(): Promise<void>;
}

export async function startOwnServer(): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-server-'));
  chmodSync(folder, 0o755);
  await putCluster(folder);
  const server = await startEmbeddedPostgres({ directory: join(folder, 'postgres') });
  const url = server.url('gateway');
  return {
    folder,
    server,
    url,
    async tell(...statements) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        let rows: Record<string, string>[] = [];
        for (const statement of statements) ({ rows } = await client.query(statement));
        return rows;
      } finally {
        await client.end();
      }
    },
    async close() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
