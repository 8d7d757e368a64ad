import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, ensureDatabase, startEmbeddedPostgres } from '../../src/db/embedded.js';
import { isRoot } from '../../src/db/reachable.js';
import { leftBehind } from '../../src/db/server-process.js';
import { isRunning } from '../../src/lib/process-stat.js';
import { temporaryFolder } from '../launcher/support.js';
import { putCluster } from '../support/cluster.js';
import { urlInDist } from '../support/dist.js';
import { freePort } from '../support/free-port.js';
import { ownTime } from '../support/own-time.js';
import { descendantsOf } from '../support/process-tree.js';
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
  /** A cluster with the product's database, for tests that are not about its creation. */
  const putMade = () => putCluster(join(folder.path, 'data'));
  const start = async (): Promise<EmbeddedPostgres> => {
    const server = await startEmbeddedPostgres({ directory: directory() });
    servers.push(server);
    return server;
  };
  const query = async (server: EmbeddedPostgres, text: string, database = 'gateway') => {
    const client = new pg.Client({ connectionString: server.url(database) });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const pid = (): number => Number(readFileSync(join(directory(), 'postmaster.pid'), 'utf8').split('\n')[0]);

  test('a new database is created in a missing folder and keeps its rows over an orderly restart', async () => {
    const first = await start();
    expect(first.origin).toBe('created');
    await ensureDatabase(first, 'gateway');
    await ensureDatabase(first, 'gateway');
    await query(first, 'create table t as select 1 as one');
    await first.stop();
    const second = await start();
    expect(second.origin).toBe('started');
    expect(await query(second, 'select one from t')).toEqual([{ one: 1 }]);
    // With the settings of the product, which never cost a commit.
    const names = "'fsync', 'synchronous_commit', 'full_page_writes', 'jit', 'wal_compression'";
    expect(
      await query(second, `select name, setting from pg_settings where name in (${names}) order by name`),
    ).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'full_page_writes', setting: 'on' },
      { name: 'jit', setting: 'off' },
      { name: 'synchronous_commit', setting: 'on' },
      { name: 'wal_compression', setting: 'pglz' },
    ]);
  });

  test('a start takes another port if another server, even one without a password, took the port first', async () => {
    await putMade();
    // The server of all tests.
    const other = new URL(process.env.TEST_POSTGRES_URL!);
    const ports = [Number(other.port), await freePort()];
    const server = await startEmbeddedPostgres({
      directory: directory(),
      choosePort: async () => ports.shift()!,
    });
    servers.push(server);
    expect(ports).toEqual([]);
    expect(await query(server, 'show data_directory', 'postgres')).toEqual([{ data_directory: directory() }]);
  });

  test('the database requires its password and listens on loopback only', async () => {
    await putMade();
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

  test('a server left running by a killed launcher is adopted with its rows and can be stopped', async () => {
    await putMade();
    const first = await start();
    await query(first, 'create table t as select 1 as one');
    const running = pid();
    const second = await start();
    expect(second.origin).toBe('adopted');
    expect(await query(second, 'select one from t')).toEqual([{ one: 1 }]);
    await second.stop();
    expect(isRunning(running)).toBe(false);
  });

  test('a killed server restarts with everything that was committed', async () => {
    await putMade();
    const first = await start();
    await query(first, 'create table t as select 1 as one');
    const killed = pid();
    process.kill(killed, 'SIGKILL');
    await until(() => !isRunning(killed));
    const second = await start();
    expect(second.origin).toBe('started');
    expect(await query(second, 'select one from t')).toEqual([{ one: 1 }]);
  });

  test('an empty process file does not prevent a start, and signals no process', async () => {
    await putMade();
    const path = join(directory(), 'postmaster.pid');
    writeFileSync(path, '');
    expect(leftBehind(directory())).toBeUndefined();
    expect((await start()).origin).toBe('started');
  });

  test('after DATA_DIR is deleted, a new database starts in a closed folder and the old one is kept', async () => {
    const dataDir = join(folder.path, 'home', '.data');
    mkdirSync(join(folder.path, 'home'), { mode: 0o700 });
    const notes: string[] = [];
    const startThere = async () => {
      const server = await startEmbeddedPostgres({
        directory: join(dataDir, 'postgres'),
        systemRoot: join(folder.path, 'system'),
        note: (line) => notes.push(line),
      });
      servers.push(server);
      return server;
    };
    const first = await startThere();
    await query(first, 'create table t as select 1 as one', 'postgres');
    await first.stop();
    const again = await startThere();
    expect([again.origin, await query(again, 'select one from t', 'postgres')]).toEqual([
      'started',
      [{ one: 1 }],
    ]);
    // As root, its data is elsewhere; a server that still runs there is ended.
    if (!isRoot()) await again.stop();
    rmSync(dataDir, { recursive: true });
    const fresh = await startThere();
    expect(fresh.origin).toBe('created');
    expect(await query(fresh, "select to_regclass('t') as found", 'postgres')).toEqual([{ found: null }]);
    if (!isRoot()) return;
    expect(again.running()).toBe(false);
    const former = `${readlinkSync(join(dataDir, 'postgres'))}.former-1`;
    expect(existsSync(join(former, 'PG_VERSION'))).toBe(true);
    expect(notes).toContain(`${dataDir} was deleted: starting over; its former data is now in ${former}`);
  });

  describe('whose creation is interrupted', () => {
    const module = urlInDist('db/embedded.js');
    const drafts = () =>
      readdirSync(join(folder.path, 'data')).filter((name) => /^postgres\.(?:new-|password)/.test(name));
    /** Whether initdb has written the file that marks a cluster, and is still running. */
    const halfMade = () =>
      existsSync(join(folder.path, 'data')) &&
      drafts().some((name) => existsSync(join(folder.path, 'data', name, 'cluster', 'PG_VERSION')));

    const startElsewhere = async (): Promise<{ maker: ChildProcess; pids: number[] }> => {
      const code = `const { startEmbeddedPostgres } = await import(${JSON.stringify(module)});
        await startEmbeddedPostgres({ directory: ${JSON.stringify(directory())} });`;
      const maker = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
      await until(halfMade, { intervalMs: 2 });
      return { maker, pids: [maker.pid!, ...descendantsOf(maker.pid!)] };
    };

    test.each(['the launcher and initdb', 'the launcher alone'])(
      'a kill of %s leaves no password behind, and the next start creates the database again',
      async (killed) => {
        const { maker, pids } = await startElsewhere();
        expect(pids.length).toBeGreaterThan(1);
        const gone = once(maker, 'exit');
        for (const one of killed.includes('alone') ? [maker.pid!] : pids) {
          try {
            process.kill(one, 'SIGKILL');
          } catch {
            // A short-lived helper of initdb that was gone already.
          }
        }
        await gone;
        expect(existsSync(directory())).toBe(false);
        expect(drafts()).toHaveLength(1);
        writeFileSync(`${directory()}.password`, 'of an earlier version');
        const server = await start();
        expect(server.origin).toBe('created');
        expect(await query(server, 'select 1 as one', 'postgres')).toEqual([{ one: 1 }]);
        expect(drafts()).toEqual([]);
        await until(() => !pids.some(isRunning));
      },
    );

    test('an aborted creation ends at once and leaves nothing', async () => {
      const others = descendantsOf(process.pid);
      const stopping = new AbortController();
      const made = startEmbeddedPostgres({ directory: directory(), signal: stopping.signal });
      const failed = expect(made).rejects.toThrow('aborted');
      await until(halfMade, { intervalMs: 2 });
      const pids = descendantsOf(process.pid).filter((pid) => !others.includes(pid));
      const time = ownTime();
      const began = time.now();
      stopping.abort();
      await failed;
      expect(time.now() - began).toBeLessThan(2_000);
      time.stop();
      expect(drafts()).toEqual([]);
      expect(existsSync(directory())).toBe(false);
      await until(() => !pids.some(isRunning));
    });
  });

  describe("that can't be started", () => {
    const attempt = async () => {
      await putMade();
      const stopping = new AbortController();
      const notes: string[] = [];
      return {
        stopping,
        notes,
        begin: () =>
          startEmbeddedPostgres({
            directory: directory(),
            signal: stopping.signal,
            note: (line) => notes.push(line),
          }),
      };
    };

    test('an aborted start is not retried', async () => {
      const { stopping, notes, begin } = await attempt();
      rmSync(join(directory(), 'global', 'pg_control'));
      const failed = expect(begin()).rejects.toThrow('aborted');
      await until(() => notes.some((line) => line.includes('did not start; retrying')));
      const time = ownTime();
      const began = time.now();
      stopping.abort();
      await failed;
      expect(time.now() - began).toBeLessThan(2_000);
      time.stop();
    });

    test('an aborted start ends a server that does not respond', async () => {
      const { stopping, begin } = await attempt();
      writeFileSync(join(directory(), 'pg_hba.conf'), 'host all all all reject\n');
      const failed = expect(begin()).rejects.toThrow('aborted');
      const running = await until(() =>
        existsSync(join(directory(), 'postmaster.pid')) ? pid() : undefined,
      );
      const time = ownTime();
      const began = time.now();
      stopping.abort();
      await failed;
      expect(time.now() - began).toBeLessThan(4_000);
      time.stop();
      expect(isRunning(running)).toBe(false);
    });
  });
});
