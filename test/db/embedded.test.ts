import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, ensureDatabase, startEmbeddedPostgres } from '../../src/db/embedded.js';
import { isAlive, temporaryFolder } from '../launcher/support.js';
import { until } from '../support/until.js';

describe('the embedded database', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let servers: EmbeddedPostgres[];
  beforeEach(() => {
    folder = temporaryFolder();
    servers = [];
  });
  afterEach(async () => {
    for (const server of servers) await server.stop();
    folder.remove();
  });

  const directory = () => join(folder.path, 'data', 'postgres');
  const start = async (): Promise<EmbeddedPostgres> => {
    const server = await startEmbeddedPostgres({ directory: directory() });
    servers.push(server);
    return server;
  };
  const query = async (server: EmbeddedPostgres, text: string, database = 'app') => {
    const client = new pg.Client({ connectionString: server.url(database) });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const pid = (): number => Number(readFileSync(join(directory(), 'postmaster.pid'), 'utf8').split('\n')[0]);

  test('is made in a folder that does not exist, and keeps its rows over an orderly restart', async () => {
    const first = await start();
    expect(first.origin).toBe('created');
    await ensureDatabase(first, 'app');
    await ensureDatabase(first, 'app');
    await query(first, 'create table t as select 1 as one');
    await first.stop();
    const second = await start();
    expect(second.origin).toBe('started');
    expect(await query(second, 'select one from t')).toEqual([{ one: 1 }]);
  });

  test('asks for its password, and listens on loopback only', async () => {
    const server = await start();
    const url = new URL(server.url('postgres'));
    expect(url.hostname).toBe('127.0.0.1');
    expect((await query(server, 'show listen_addresses', 'postgres'))[0]).toEqual({
      listen_addresses: '127.0.0.1',
    });
    url.password = 'wrong';
    const client = new pg.Client({ connectionString: url.href });
    client.on('error', () => undefined);
    await expect(client.connect()).rejects.toThrow('password authentication failed');
  });

  test('that a killed launcher left running is adopted, rows and all, and can be stopped', async () => {
    const first = await start();
    await ensureDatabase(first, 'app');
    await query(first, 'create table t as select 1 as one');
    const running = pid();
    const second = await start();
    expect(second.origin).toBe('adopted');
    expect(await query(second, 'select one from t')).toEqual([{ one: 1 }]);
    await second.stop();
    expect(isAlive(running)).toBe(false);
  });

  test('that was killed hard is started again with everything that was committed', async () => {
    const first = await start();
    await ensureDatabase(first, 'app');
    await query(first, 'create table t as select 1 as one');
    const killed = pid();
    process.kill(killed, 'SIGKILL');
    await until(() => !isAlive(killed));
    const second = await start();
    expect(second.origin).toBe('started');
    expect(await query(second, 'select one from t')).toEqual([{ one: 1 }]);
  });
});
